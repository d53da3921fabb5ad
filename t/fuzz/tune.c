/* tune.c - fuzz target: the law of `MaxConcurrent auto`.
 *
 * The input is a list of samples, from sensible ones to any bytes, and of
 * scribbles in the state. No step may trap, leave the bounds or leave a number
 * that the next step does not trust.
 */
#include <fenv.h>
#include <string.h>

#include "fuzz.h"
#include "auto/law_tune.h"

enum { MOST_STEPS = 2000, MOST_PROGRAMS = 16, MOST_MAX = 1 << 20 };

typedef struct story_t {
    law_tune_t tune;
    law_tune_rules_t rules;
    law_tune_sample_t sample;
    uint32_t rss_kb[MOST_PROGRAMS];
} story_t;

static void take_any_bytes(void *to, size_t size, input_t *input)
{
    uint8_t *byte = to;

    while (size-- > 0) {
        *byte++ = take_byte(input);
    }
}

static void take_rules(story_t *fuzz, input_t *input)
{
    fuzz->rules.min = take_byte(input);
    fuzz->rules.max = take_byte(input);
    if (fuzz->rules.max == 255) {
        fuzz->rules.min = take_word(input);
        fuzz->rules.max = take_word(input);
    }
}

/* What a machine could say. */
static void take_sample(story_t *fuzz, input_t *input)
{
    law_tune_sample_t *sample = &fuzz->sample;
    uint64_t now = sample->now_usec;
    uint32_t i;

    memset(sample, 0, sizeof(*sample));
    sample->now_usec = now + take_byte(input) * 5000;
    sample->limit = fuzz->tune.limit;
    sample->active = take_byte(input);
    sample->served = sample->ended = take_byte(input);
    sample->service_usec = (uint64_t)sample->served * take_byte(input) * 10000;
    sample->service_square_ms2 = sample->served ? sample->service_usec / sample->served : 0;
    sample->waited_permille = 4 * take_byte(input);
    sample->peak_largest_kb = take_byte(input) << 12;
    sample->peak_kb = (uint64_t)sample->ended * sample->peak_largest_kb;
    sample->peak_square_kb2 = sample->peak_kb * sample->peak_largest_kb;
    sample->cores = take_byte(input);
    sample->busy_permille = 4 * take_byte(input);
    sample->own_permille = 4 * take_byte(input);
    sample->total_kb = 1 << 20;
    sample->available_kb = take_byte(input) << 12;
    sample->stall_permille = 4 * take_byte(input);
    sample->rss_kb = fuzz->rss_kb;
    sample->programs = take_byte(input) % (MOST_PROGRAMS + 1);
    for (i = 0; i < sample->programs; i++) {
        fuzz->rss_kb[i] = take_byte(input) << 12;
    }
}

/* Any bytes; only the list is a list. */
static void take_any_sample(story_t *fuzz, input_t *input)
{
    law_tune_sample_t *sample = &fuzz->sample;

    take_any_bytes(sample, sizeof(*sample), input);
    take_any_bytes(fuzz->rss_kb, sizeof(fuzz->rss_kb), input);
    sample->rss_kb = take_byte(input) % 2 ? fuzz->rss_kb : NULL;
    if (sample->rss_kb) {
        sample->programs %= MOST_PROGRAMS + 1;
    }
}

/* One word of the state, or all of it. */
static void scribble(story_t *fuzz, input_t *input)
{
    static const uint64_t telling[] = {
        UINT64_C(0x7ff8000000000000), /* NaN */
        UINT64_C(0x7ff0000000000001), /* one that traps */
        UINT64_C(0x7ff0000000000000), /* infinity */
        UINT64_C(0x7fefffffffffffff), /* the largest number */
        UINT64_C(0x0000000000000001), /* the smallest */
        UINT64_C(0x8000000000000000), /* minus zero */
        UINT64_C(0xbff0000000000000), /* minus one */
        UINT64_C(0x3ff0000000000000)  /* one */
    };
    uint8_t n = take_byte(input);
    size_t word = take_byte(input) % (sizeof(fuzz->tune) / 8);
    uint64_t value = n < 8 ? telling[n] : take_long(input);

    if (n == 255) {
        take_any_bytes(&fuzz->tune, sizeof(fuzz->tune), input);
        return;
    }
    memcpy((uint8_t *)&fuzz->tune + word * 8, &value, 8);
}

static uint32_t bound(uint32_t number)
{
    return number < 1 ? 1 : number > MOST_MAX ? MOST_MAX : number;
}

typedef uint32_t law_t(law_tune_t *tune, const law_tune_rules_t *rules,
                       const law_tune_sample_t *sample);

static void step(story_t *fuzz, law_t *law)
{
    uint32_t one = bound(fuzz->rules.min), other = bound(fuzz->rules.max);
    uint32_t min = one < other ? one : other, max = one < other ? other : one;
    uint32_t limit, again;
    law_tune_t before = fuzz->tune, copy = fuzz->tune;

    limit = law(&fuzz->tune, &fuzz->rules, &fuzz->sample);
    MUST(limit >= min && limit <= max);
    MUST(limit == fuzz->tune.limit && fuzz->tune.reason < LAW_TUNE_REASONS);
    again = law(&copy, &fuzz->rules, &fuzz->sample);
    MUST(again == limit && copy.reason == fuzz->tune.reason);
    MUST(law_tune_safe(&fuzz->tune, &(law_tune_rules_t){ min, max }) <= max);
    law_tune_need_kb(&fuzz->tune);
    /* Of any bytes, and of what the law has left. */
    law_tune_show(&before, fuzz->sample.now_usec);
    law_tune_show(&fuzz->tune, fuzz->sample.now_usec);
}

/* The law trusts what it has left: a step that brings nothing begins nothing
 * again, which would clear the count. */
static void trust(const story_t *fuzz)
{
    law_tune_t copy = fuzz->tune;
    const law_tune_sample_t nothing = { .now_usec = fuzz->sample.now_usec };

    copy.brake.times = 1000;
    law_tune(&copy, &fuzz->rules, &nothing);
    MUST(copy.brake.times >= 1000);
}

/* Arithmetic that goes wrong is killed. */
static void trap(bool is_on)
{
#ifdef __GLIBC__
    feclearexcept(FE_ALL_EXCEPT);
    if (is_on) {
        feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
    }
    else {
        fedisableexcept(FE_ALL_EXCEPT);
    }
#endif
}

void fuzz_tune(const uint8_t *data, size_t size)
{
    input_t input = { data, data + size };
    story_t fuzz;
    int steps;

    memset(&fuzz, 0, sizeof(fuzz));
    trap(true);
    take_rules(&fuzz, &input);
    for (steps = 0; has_more(&input) && steps < MOST_STEPS; steps++) {
        switch (take_byte(&input) % 16) {
        case 0:
            scribble(&fuzz, &input);
            break;
        case 1:
            take_any_sample(&fuzz, &input);
            break;
        case 2:
            take_rules(&fuzz, &input);
            break;
        case 3:
            law_tune_remember(&fuzz.tune, take_word(&input), take_word(&input), take_word(&input));
            break;
        case 4:
            take_sample(&fuzz, &input);
            step(&fuzz, law_tune_estimate);
            continue;
        default:
            take_sample(&fuzz, &input);
            step(&fuzz, law_tune);
            trust(&fuzz);
            continue;
        }
        step(&fuzz, law_tune);
    }
    trap(false);
}
