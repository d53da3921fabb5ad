/* recycle_turns.c - quotas of connections, and the turns in which children end.
 * Called by recycle.c.
 *
 * A turn is one word that identifies its child. A killed child does not block
 * the others: the turn of a child that is dead or overdue can be taken over.
 */
#include "core/adm_layout.h"
#include "recycle_turns.h"

/* Upper bounds of the time that prefork needs to replace a child that has taken
 * a turn. prefork notices a death in one maintenance round and starts a child
 * in the next one, a second later. If several are missing it starts one, then
 * twice as many each time; within ten rounds after a reload, one each. So each
 * child that is away adds a round, here twice as long as on an idle machine. A
 * child that is not replaced by then is not needed. */
#define ROUND_USEC (2 * ADM_USEC_PER_SEC)
#define LAST_ROUNDS_USEC (3 * ADM_USEC_PER_SEC)

/* Written by children; atomic. */
typedef struct recycle_rec_t {
    atomic_uint spawned; /* quotas drawn */
    _Atomic uint64_t ended;
    _Atomic adm_usec_t away_max_usec;
    _Atomic uint64_t turns[RECYCLE_TURNS_MAX]; /* 0: free */
} recycle_rec_t;

const adm_part_t adm_part_recycle = { .of_server = sizeof(recycle_rec_t) };

static recycle_rec_t *rec_of(const adm_segment_t *segment)
{
    return segment->parts[ADM_PART_RECYCLE].of_server;
}

/* ---- quotas --------------------------------------------------------------- */

uint32_t recycle_quota(adm_segment_t *segment, uint32_t min, uint32_t max)
{
    /* Multiples of the golden ratio modulo 1: any consecutive ones are spread
     * evenly over the interval. */
    const uint32_t golden_ratio = UINT32_C(2654435769);
    uint32_t n = atomic_fetch_add(&rec_of(segment)->spawned, 1);
    uint64_t fraction = (uint32_t)(n * golden_ratio);
    uint64_t width = (uint64_t)max - min + 1;

    return min + (uint32_t)(fraction * width >> 32);
}

/* ---- turns ---------------------------------------------------------------- */

/* A turn identifies its child and time in one word: child index, low bits of
 * the child's sequence number, and milliseconds that wrap after 49 days. */
#define SEQUENCE_BITS 12
#define SEQUENCE_MASK ((1u << SEQUENCE_BITS) - 1)

static uint32_t msec_of(adm_usec_t time)
{
    return (uint32_t)(time / ADM_USEC_PER_MSEC);
}

static uint64_t make_turn(const adm_child_t *child, adm_usec_t now)
{
    uint64_t life = atomic_load(&child->rec->life);
    uint64_t holder = (uint64_t)child->idx << SEQUENCE_BITS
                      | (adm_life_sequence(life) & SEQUENCE_MASK);

    return holder << 32 | msec_of(now);
}

/* How late a caller's @a now can be, because its process was stopped. */
#define LATE_MAX_MSEC (60 * 1000)

/* A turn can be later than @a now: its age is 0, not 49 days. */
static adm_usec_t age_of(uint64_t turn, adm_usec_t now)
{
    uint32_t age = msec_of(now) - (uint32_t)turn;

    return age > UINT32_MAX - LATE_MAX_MSEC ? 0 : age * ADM_USEC_PER_MSEC;
}

static uint32_t children_away(const adm_segment_t *segment)
{
    uint32_t n, away = 0;

    for (n = 0; n < RECYCLE_TURNS_MAX; n++) {
        away += atomic_load(&rec_of(segment)->turns[n]) != 0;
    }
    return away;
}

static adm_usec_t longest_absence(const adm_segment_t *segment)
{
    return LAST_ROUNDS_USEC + children_away(segment) * ROUND_USEC;
}

/* Compares the low bits of the sequence number, too: another child can have the
 * index by now. */
static bool holder_has_ended(const adm_segment_t *segment, uint64_t turn)
{
    uint32_t holder = (uint32_t)(turn >> 32);
    adm_child_rec_t *rec = adm_child_at(segment, holder >> SEQUENCE_BITS);
    uint64_t life = rec ? atomic_load(&rec->life) : 0;

    return adm_life_state(life) != ADM_LIFE_LIVE
           || (adm_life_sequence(life) & SEQUENCE_MASK)
                  != (holder & SEQUENCE_MASK);
}

bool recycle_take_turn(adm_child_t *child, uint32_t together, adm_usec_t now)
{
    recycle_rec_t *rec = rec_of(child->segment);
    adm_usec_t expires = longest_absence(child->segment);
    uint32_t n;

    for (n = 0; n < together && n < RECYCLE_TURNS_MAX; n++) {
        uint64_t turn = atomic_load(&rec->turns[n]);

        if ((turn == 0 || age_of(turn, now) > expires)
            && atomic_compare_exchange_strong(&rec->turns[n], &turn,
                                              make_turn(child, now))) {
            atomic_fetch_add(&rec->ended, 1);
            return true;
        }
    }
    return false;
}

static void note_absence(adm_segment_t *segment, adm_usec_t absence)
{
    _Atomic adm_usec_t *longest = &rec_of(segment)->away_max_usec;
    adm_usec_t seen = atomic_load(longest);

    while (absence > seen
           && !atomic_compare_exchange_weak(longest, &seen, absence)) {
    }
}

/* @return the oldest turn whose child has ended, or NULL. Later turns wait for
 * later children: in any other order, the oldest turn would expire as if its
 * child were not replaced. */
static _Atomic uint64_t *oldest_ended(adm_segment_t *segment, adm_usec_t now,
                                      uint64_t *turn)
{
    _Atomic uint64_t *first = NULL;
    uint32_t n;

    for (n = 0; n < RECYCLE_TURNS_MAX; n++) {
        uint64_t other = atomic_load(&rec_of(segment)->turns[n]);

        if (other && holder_has_ended(segment, other)
            && (!first || age_of(other, now) > age_of(*turn, now))) {
            first = &rec_of(segment)->turns[n];
            *turn = other;
        }
    }
    return first;
}

void recycle_return_turn(adm_child_t *child, adm_usec_t now)
{
    adm_segment_t *segment = child->segment;
    _Atomic uint64_t *first;
    uint64_t turn;

    /* repeated only if another new child was faster */
    while ((first = oldest_ended(segment, now, &turn))) {
        adm_usec_t absence = age_of(turn, now);

        if (atomic_compare_exchange_strong(first, &turn, 0)) {
            note_absence(segment, absence);
            return;
        }
    }
}

void recycle_count(adm_segment_t *segment)
{
    atomic_fetch_add(&rec_of(segment)->ended, 1);
}

recycle_view_t recycle_view(const adm_segment_t *segment)
{
    const recycle_rec_t *rec = rec_of(segment);

    return (
        recycle_view_t){ .ended = atomic_load(&rec->ended),
                         .away = children_away(segment),
                         .away_max_usec = atomic_load(&rec->away_max_usec) };
}
