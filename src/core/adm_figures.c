/* adm_figures.c - a zone's statistics.
 * Called by adm_zone and adm_ticket, under the zone's lock.
 */
#include <stdatomic.h>

#include "adm_figures.h"

/* Bucket n counts numbers below 2^n. */
static unsigned bucket_of(uint64_t number, unsigned buckets)
{
    unsigned bucket = number ? 64 - (unsigned)__builtin_clzll(number) : 0;

    return bucket < buckets ? bucket : buckets - 1;
}

/* Store the count before the rest. If the process is killed in between, the
 * count is higher than the sum of the buckets, never lower. A compiler fence is
 * enough, because a kill does not expose the CPU's order. */
static void store_count_first(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

void adm_figures_add_duration(adm_durations_t *durations, adm_usec_t duration)
{
    uint64_t usec = duration > 0 ? (uint64_t)duration : 0;

    durations->count++;
    store_count_first();
    durations->sum_usec += usec;
    if (usec > durations->max_usec) {
        durations->max_usec = usec;
    }
    durations
        ->bucket[bucket_of(usec / ADM_USEC_PER_MSEC, ADM_HISTOGRAM_BUCKETS)]++;
}

void adm_figures_note_queued(adm_figures_t *figures, uint32_t queued)
{
    if (queued > figures->queued_max) {
        figures->queued_max = queued;
    }
}

/* ---- estimates ----------------------------------------------------------- */

uint64_t law_wait_usec(uint32_t queued, uint64_t service_usec, uint32_t permits)
{
    return (queued + 1) * service_usec / (permits ? permits : 1);
}

uint64_t law_wait_mean(uint64_t mean, uint64_t count, int64_t served)
{
    int64_t before = (int64_t)mean;

    return (uint64_t)(count == 1 ? served : before + (served - before) / 8);
}

uint64_t law_wait_slow_mean(uint64_t mean, uint64_t count, int64_t served)
{
    int64_t before = (int64_t)mean, change = served - before;

    /* From the 64th on a constant divisor, because a division takes 10 ns. */
    if (count >= 64) {
        return (uint64_t)(before + change / 64);
    }
    return (uint64_t)(count ? before + change / (int64_t)count : served);
}

/* Longer durations count as 35 minutes: the sum of squares must not
 * overflow. */
static uint64_t square_msec2(adm_usec_t duration)
{
    uint64_t usec = duration > 0 ? (uint64_t)duration : 0;

    if (usec > UINT32_MAX / 2) {
        usec = UINT32_MAX / 2;
    }
    return usec * usec / (ADM_USEC_PER_MSEC * ADM_USEC_PER_MSEC);
}

void adm_figures_note_served(adm_figures_t *figures, adm_usec_t served,
                             uint32_t permits)
{
    adm_usec_t work = served > 0 ? served * permits : 0;

    adm_figures_add_duration(&figures->service, served);
    figures->work_usec += (uint64_t)work;
    figures->service_mean_usec = law_wait_mean(figures->service_mean_usec,
                                               figures->service.count, served);
    figures->service_square_msec2 += square_msec2(work);
    figures->slow_mean_usec = law_wait_slow_mean(figures->slow_mean_usec,
                                                 figures->service.count,
                                                 served);
}

void adm_figures_note_programs(adm_figures_t *figures, uint64_t peak_kb,
                               uint32_t count)
{
    adm_usages_t *programs = &figures->programs;

    programs->count += count;
    programs->peak_kb += peak_kb * count;
    programs->peak_square_kb2 += peak_kb * peak_kb * count;
}

static void add_number(adm_spread_t *spread, uint64_t number)
{
    spread->sum += number;
    if (number > spread->max) {
        spread->max = number;
    }
    spread->bucket[bucket_of(number, ADM_SPREAD_BUCKETS)]++;
}

void adm_figures_account(adm_figures_t *figures, uint64_t peak_kb,
                         uint64_t processor_usec, uint64_t faults)
{
    adm_account_t *account = &figures->account;

    account->count++;
    store_count_first();
    add_number(&account->peak_kb, peak_kb);
    add_number(&account->processor_msec, processor_usec / ADM_USEC_PER_MSEC);
    add_number(&account->faults, faults);
}

/* @return the percentile, times @a unit, interpolated within its bucket; @a max
 * if it is in the last bucket. */
static uint64_t percentile(const uint64_t *bucket, unsigned buckets,
                           unsigned percent, double unit, uint64_t max)
{
    double wanted, below = 0;
    unsigned i;

    for (i = 0; i < buckets; i++) {
        below += (double)bucket[i];
    }
    wanted = below * percent / 100;
    below = 0;
    for (i = 0; i < buckets - 1; i++) {
        double here = (double)bucket[i];

        if (here > 0 && below + here >= wanted) {
            double from = i > 0 ? (double)(UINT64_C(1) << (i - 1)) : 0;
            double to = (double)(UINT64_C(1) << i);
            double number = unit
                            * (from + (to - from) * (wanted - below) / here);

            return number < (double)max ? (uint64_t)number : max;
        }
        below += here;
    }
    return max;
}

uint64_t adm_spread_percentile(const adm_spread_t *spread, unsigned percent)
{
    return percentile(spread->bucket, ADM_SPREAD_BUCKETS, percent, 1,
                      spread->max);
}

uint64_t adm_durations_percentile(const adm_durations_t *durations,
                                  unsigned percent)
{
    return percentile(durations->bucket, ADM_HISTOGRAM_BUCKETS, percent,
                      ADM_USEC_PER_MSEC, durations->max_usec);
}
