/* test_agenda.c - what happens next in a simulation, and chance that repeats. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "test_agenda.h"

static bool is_before(const agenda_event_t *a, const agenda_event_t *b)
{
    return a->at < b->at || (a->at <= b->at && a->seq < b->seq);
}

void agenda_add(agenda_t *agenda, double at, int what, int idx)
{
    const agenda_event_t event = { at, ++agenda->seq, what, idx };
    int i = agenda->count++;

    if (agenda->count > AGENDA_MOST) {
        abort();
    }
    for (; i > 0 && is_before(&event, &agenda->entries[(i - 1) / 2]); i = (i - 1) / 2) {
        agenda->entries[i] = agenda->entries[(i - 1) / 2];
    }
    agenda->entries[i] = event;
}

agenda_event_t agenda_take(agenda_t *agenda)
{
    agenda_event_t *entries = agenda->entries;
    agenda_event_t first = entries[0];
    agenda_event_t last = entries[--agenda->count];
    int i = 0, child;

    for (; (child = 2 * i + 1) < agenda->count; i = child) {
        if (child + 1 < agenda->count && is_before(&entries[child + 1], &entries[child])) {
            child++;
        }
        if (is_before(&last, &entries[child])) {
            break;
        }
        entries[i] = entries[child];
    }
    entries[i] = last;
    return first;
}

/* splitmix64: small, and the same everywhere. */
double chance_of_one(chance_t *chance)
{
    uint64_t z = chance->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

double chance_exponential(chance_t *chance, double mean)
{
    return -mean * log(1 - chance_of_one(chance));
}

double chance_lognormal(chance_t *chance, double mean, double cv)
{
    double variance = log(1 + cv * cv);
    double radius = sqrt(-2 * log(1 - chance_of_one(chance)));
    double normal = radius * cos(2 * M_PI * chance_of_one(chance));

    return mean <= 0 ? 0 : mean * exp(normal * sqrt(variance) - variance / 2);
}
