/* law_tune_memory.c - forecast: how many programs fit into memory.
 *
 * Memory pressure gives no warning: from "all programs fit" to "all processes
 * stall" takes less than 0.1 s. The number is therefore computed in advance, from
 * the peaks of programs that have ended.
 */
#include "law_tune_parts.h"

/* Reserve: a twentieth of the memory, because the kernel only estimates available
 * memory and other processes vary; at least 50 MiB. */
#define RESERVE_PART 20
#define RESERVE_LEAST_KB (50 * 1024.0)

/* Weights of the moving means: the slow mean needs enough programs for a variance;
 * the quick mean follows a change of the requests within about 10 programs. */
#define SLOW_WEIGHT 0.01
#define QUICK_WEIGHT 0.1

/* The sum of c programs exceeds c means by more than three standard deviations once in
 * 700 times. Squared, to avoid a square root. */
#define DEVIATIONS_SQUARED 9

/* Detects that other programs run than before: the mean of a batch of ten differs from
 * the slow mean by 1.5 deviations and by a tenth. For the same programs, or a lasting
 * mixture, it stays within one deviation. One batch of larger programs suffices;
 * smaller programs need three batches in a row, because a short series of them can
 * occur by chance. */
#define BATCH 10
#define UNLIKE_SQUARED (1.5 * 1.5)
#define UNLIKE_PART 0.1
#define UNLIKE_BATCHES 3

/* A program of a new kind is a quarter larger than the largest known program. */
#define NEW_KIND 1.25
/* A program still grows if it has gained 2 % within the last second. */
#define GROWS 1.02
#define FLAT_SEC 1.0
/* Expected final size of a growing program of a new kind, relative to its current
 * size: most samples see it in the second half of its growth. */
#define NEW_KIND_GROWTH 1.5

/* The excess of the largest peak over the mean halves in 10 minutes. */
#define FADE_PER_SEC 0.0012
/* A need that was too small is raised by a tenth. This decays within 25 s, so that
 * random excesses of varying programs do not add up. */
#define INFLATE 1.1
#define DEFLATE_PER_SEC 0.004
#define INFLATION_MOST 3.0

/* Values of `provisional`; 0: confirmed. */
enum { RESTARTED = 1, REMEMBERED = 2 };

/* @return the weight of @a count new programs for the mean of @a all: the same for each
 * of the first programs, and @a least for each later one, as in a moving mean. */
static double weight_of(double count, double all, double least)
{
    double moving = law_tune_clamp(count * least, 0, 1);

    return law_tune_clamp(law_tune_larger(law_tune_ratio(count, all), moving),
                          0, 1);
}

static double sum_of_live(const law_tune_sample_t *sample)
{
    double sum = 0;
    uint32_t i;

    for (i = 0; i < sample->programs; i++) {
        sum += sample->rss_kb[i];
    }
    return sum;
}

static double largest_live(const law_tune_sample_t *sample)
{
    double largest = 0;
    uint32_t i;

    for (i = 0; i < sample->programs; i++) {
        largest = law_tune_larger(largest, sample->rss_kb[i]);
    }
    return largest;
}

/* Let the largest size fade to the mean, but not below the largest that runs. */
static void fade_largest(law_tune_memory_t *memory,
                         const law_tune_sample_t *sample, double sec)
{
    double above = memory->largest_kb - memory->mean_kb;
    double faded = memory->mean_kb
                   + above * law_tune_clamp(1 - FADE_PER_SEC * sec, 0, 1);
    double live = law_tune_clamp(largest_live(sample), 0, memory->largest_kb);

    memory->largest_kb = law_tune_larger(faded, live);
}

/* @return whether the batch has other programs than before, see BATCH. */
static bool is_unlike(const law_tune_memory_t *memory, double mean_kb)
{
    double off = mean_kb - memory->mean_kb;

    return off * off > UNLIKE_SQUARED * memory->variance
           && off * off > UNLIKE_PART * UNLIKE_PART * mean_kb * mean_kb;
}

/* Discard everything except the last batch, including the largest size: a program as
 * large as before counts as a new kind again. The quick mean does not fall, because it
 * includes running programs. */
static void restart_means(law_tune_memory_t *memory, double mean_kb)
{
    double spread = memory->batch_square / memory->batch_ended
                    - mean_kb * mean_kb;

    memory->ended = memory->batch_ended;
    memory->mean_kb = mean_kb;
    memory->recent_kb = law_tune_larger(memory->recent_kb, mean_kb);
    memory->variance = law_tune_larger(spread, 0);
    memory->largest_kb = law_tune_larger(mean_kb, memory->batch_largest);
}

/* @return whether the remembered need from before a restart is wrong: all of the first
 * ten programs are smaller than half of it. */
static bool is_refuted(const law_tune_memory_t *memory)
{
    return memory->provisional == REMEMBERED
           && memory->batch_largest < memory->flat_kb / 2;
}

/* Start the means again if other programs run now: while moving means change from one
 * kind of program to another, the variance includes both kinds and would allow only a
 * few programs. */
static void compare_batch(law_tune_memory_t *memory)
{
    double mean = memory->batch_kb / memory->batch_ended;
    bool is_other_kind = is_unlike(memory, mean) && LAW_TUNE_HAS(KINDS);
    bool is_larger = is_other_kind && mean > memory->mean_kb;
    bool had_restarted = memory->provisional == RESTARTED;
    bool refuted = is_refuted(memory);

    memory->unlike_batches = is_other_kind && !is_larger
                                 ? memory->unlike_batches + 1
                                 : 0;
    memory->provisional = 0;
    if (refuted) {
        memory->recent_kb = mean;
    }
    /* The first batch after a change still has some of the earlier programs. */
    if (is_larger || had_restarted || refuted
        || memory->unlike_batches >= UNLIKE_BATCHES) {
        memory->provisional = is_larger && !had_restarted ? RESTARTED : 0;
        memory->unlike_batches = 0;
        restart_means(memory, mean);
    }
    memory->batch_ended = memory->batch_kb = memory->batch_square = 0;
    memory->batch_largest = 0;
}

void law_tune_memory_remember(law_tune_memory_t *memory, double need_kb,
                              double largest_kb)
{
    memory->ended = 1;
    memory->mean_kb = memory->recent_kb = memory->flat_kb = need_kb;
    memory->largest_kb = law_tune_larger(need_kb, largest_kb);
    memory->provisional = REMEMBERED;
}

void law_tune_memory_update(law_tune_memory_t *memory,
                            const law_tune_sample_t *sample, double sec)
{
    double count = sample->ended;
    double mean, spread, shift, weight;

    memory->inflation = law_tune_clamp(memory->inflation
                                           - DEFLATE_PER_SEC * sec,
                                       1, INFLATION_MOST);
    fade_largest(memory, sample, sec);
    if (sample->ended == 0) {
        return;
    }
    mean = law_tune_clamp((double)sample->peak_kb / count, 1, UINT32_MAX);
    spread = law_tune_larger((double)sample->peak_square_kb2 / count
                                 - mean * mean,
                             0);
    memory->ended = law_tune_clamp(memory->ended + count, 0, LAW_TUNE_HUGE);

    weight = weight_of(count, memory->ended, QUICK_WEIGHT);
    memory->recent_kb += weight * (mean - memory->recent_kb);
    weight = weight_of(count, memory->ended, SLOW_WEIGHT);
    shift = mean - memory->mean_kb;
    memory->mean_kb += weight * shift;
    memory->variance = (1 - weight)
                           * (memory->variance + weight * shift * shift)
                       + weight * spread;
    memory->largest_kb = law_tune_larger(
        memory->largest_kb,
        law_tune_larger(memory->mean_kb, sample->peak_largest_kb));

    memory->batch_ended += count;
    memory->batch_kb += mean * count;
    memory->batch_square += (mean * mean + spread) * count;
    memory->batch_largest = law_tune_larger(memory->batch_largest,
                                            sample->peak_largest_kb);
    if (memory->batch_ended >= BATCH) {
        compare_batch(memory);
    }
}

double law_tune_memory_budget(const law_tune_sample_t *sample)
{
    double reserve = law_tune_larger((double)sample->total_kb / RESERVE_PART,
                                     RESERVE_LEAST_KB);
    double all = law_tune_clamp((double)sample->available_kb, 0, LAW_TUNE_HUGE)
                 + sum_of_live(sample);

    return law_tune_clamp(all - reserve, 0, LAW_TUNE_HUGE);
}

double law_tune_memory_need(const law_tune_memory_t *memory)
{
    return law_tune_larger(memory->mean_kb, memory->recent_kb)
           * memory->inflation;
}

/* @return whether the budget suffices both if all programs together exceed their means,
 * and if one program is as large as the largest. */
static bool has_room(const law_tune_memory_t *memory, double base_kb,
                     double count, double budget_kb)
{
    double left = budget_kb - base_kb;
    double one = memory->largest_kb * memory->inflation
                 - law_tune_memory_need(memory);
    double together = DEVIATIONS_SQUARED * memory->variance * memory->inflation
                      * memory->inflation * count;

    return left >= 0 && left >= one && left * left >= together;
}

/* @return the sum of the sizes that the running programs are expected to reach. */
static double expected_of_live(const law_tune_memory_t *memory,
                               const law_tune_sample_t *sample)
{
    double need = law_tune_memory_need(memory);
    double sum = 0, rss;
    uint32_t i;

    for (i = 0; i < sample->programs; i++) {
        rss = sample->rss_kb[i];
        if (rss > NEW_KIND * memory->largest_kb) {
            rss *= NEW_KIND_GROWTH;
        }
        sum += law_tune_larger(rss, need);
    }
    return sum;
}

uint32_t law_tune_memory_cap(const law_tune_memory_t *memory,
                             const law_tune_sample_t *sample, double budget_kb,
                             uint32_t most)
{
    double need = law_tune_memory_need(memory);
    uint32_t fits = 0, limit = most;
    uint32_t middle;

    if (memory->ended < 1) {
        return most;
    }
    while (fits < limit) {
        middle = fits + (limit - fits + 1) / 2;
        if (has_room(memory, middle * need, middle, budget_kb)) {
            fits = middle;
        }
        else {
            limit = middle - 1;
        }
    }
    /* Allow no more programs than are running if these are expected to exceed the
     * budget. A tolerance of one program is added, because sizes vary. */
    if (!has_room(memory, expected_of_live(memory, sample), sample->programs,
                  budget_kb + need)) {
        fits = law_tune_between(fits, 0, sample->programs);
    }
    return fits;
}

bool law_tune_memory_update_known(law_tune_memory_t *memory,
                                  const law_tune_sample_t *sample, double now)
{
    double largest = largest_live(sample);

    if (memory->ended >= 1) {
        return true;
    }
    if (largest > GROWS * memory->flat_kb || largest <= 0) {
        memory->flat_kb = largest;
        memory->flat_since = now;
        /* Requests finish, but no program was seen: requests start none. */
        return largest <= 0 && sample->served > 0;
    }
    if (now - memory->flat_since < FLAT_SEC) {
        return false;
    }
    memory->ended = 1;
    memory->mean_kb = memory->recent_kb = memory->largest_kb = largest;
    return true;
}

bool law_tune_memory_update_surprise(law_tune_memory_t *memory,
                                     const law_tune_sample_t *sample,
                                     double now)
{
    double largest = largest_live(sample);

    if (memory->ended < 1) {
        return false;
    }
    if (largest > NEW_KIND * memory->largest_kb
        && largest > GROWS * memory->surprise_kb) {
        memory->surprise_kb = largest;
        memory->surprise_until = now + FLAT_SEC;
    }
    if (memory->surprise_kb <= 0) {
        return false;
    }
    if (now < memory->surprise_until) {
        return true;
    }
    /* The program has not grown for FLAT_SEC: its size is known now. */
    memory->largest_kb = law_tune_larger(memory->largest_kb,
                                         memory->surprise_kb);
    memory->recent_kb = law_tune_larger(memory->recent_kb, memory->surprise_kb);
    memory->surprise_kb = 0;
    return false;
}

void law_tune_memory_correct(law_tune_memory_t *memory,
                             const law_tune_sample_t *sample)
{
    /* If the forecast filled at least nine tenths of the budget, it was right. */
    if (sample->active * law_tune_memory_need(memory)
        <= 0.9 * law_tune_memory_budget(sample)) {
        memory->inflation = law_tune_clamp(memory->inflation * INFLATE, 1,
                                           INFLATION_MOST);
    }
}

bool law_tune_memory_is_sane(const law_tune_memory_t *memory, double now)
{
    const double kb = UINT32_MAX;

    return law_tune_is_within(&memory->ended, 0, LAW_TUNE_HUGE)
           && law_tune_is_within(&memory->mean_kb, 0, kb)
           && law_tune_is_within(&memory->variance, 0, kb * kb)
           && law_tune_is_within(&memory->recent_kb, 0, kb)
           && law_tune_is_within(&memory->largest_kb, 0, kb)
           && law_tune_is_within(&memory->inflation, 1, INFLATION_MOST)
           && law_tune_is_within(&memory->flat_kb, 0, kb)
           && law_tune_is_within(&memory->flat_since, 0, now)
           && law_tune_is_within(&memory->surprise_kb, 0, kb)
           && law_tune_is_within(&memory->surprise_until, 0, now + FLAT_SEC)
           && law_tune_is_within(&memory->batch_ended, 0, BATCH)
           && law_tune_is_within(&memory->batch_kb, 0, BATCH * kb)
           && law_tune_is_within(&memory->batch_square, 0, BATCH * kb * kb)
           && law_tune_is_within(&memory->batch_largest, 0, kb)
           && memory->unlike_batches < UNLIKE_BATCHES
           && memory->provisional <= REMEMBERED;
}
