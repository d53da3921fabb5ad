/* adm_figures.c - what a zone counts.
 * Called by adm_zone and adm_ticket, under the zone's lock.
 */
#include "adm_figures.h"
#include "law.h"

/* Bucket n: below 2^n milliseconds. */
static unsigned bucket_of(uint64_t duration_usec)
{
    uint64_t msec = duration_usec / ADM_USEC_PER_MSEC;
    unsigned bucket = msec ? 64 - (unsigned)__builtin_clzll(msec) : 0;

    return bucket < ADM_HISTOGRAM_BUCKETS ? bucket : ADM_HISTOGRAM_BUCKETS - 1;
}

void adm_figures_add_duration(adm_durations_t *durations, adm_usec_t duration)
{
    uint64_t usec = duration > 0 ? (uint64_t)duration : 0;

    durations->count++;
    durations->sum_usec += usec;
    if (usec > durations->max_usec) {
        durations->max_usec = usec;
    }
    durations->bucket[bucket_of(usec)]++;
}

void adm_figures_note_queued(adm_figures_t *figures, uint32_t queued)
{
    if (queued > figures->queued_max) {
        figures->queued_max = queued;
    }
}

/* Of more than half an hour as if it was that: no sum overflows in a lifetime. */
static uint64_t square_msec2(adm_usec_t duration)
{
    uint64_t usec = duration > 0 ? (uint64_t)duration : 0;

    if (usec > UINT32_MAX / 2) {
        usec = UINT32_MAX / 2;
    }
    return usec * usec / (ADM_USEC_PER_MSEC * ADM_USEC_PER_MSEC);
}

void adm_figures_note_served(adm_figures_t *figures, adm_usec_t served)
{
    adm_figures_add_duration(&figures->service, served);
    figures->service_mean_usec = law_wait_mean(figures->service_mean_usec,
                                               figures->service.count, served);
    figures->service_square_msec2 += square_msec2(served);
    if (figures->has_target) {
        figures->slow_mean_usec = law_wait_slow_mean(figures->slow_mean_usec,
                                                     ++figures->slow_count,
                                                     served);
    }
}

void adm_figures_note_program(adm_figures_t *figures, uint64_t peak_kb,
                              uint64_t processor_usec)
{
    adm_usages_t *programs = &figures->programs;

    programs->count++;
    programs->peak_kb += peak_kb;
    programs->peak_square_kb2 += peak_kb * peak_kb;
    programs->processor_usec += processor_usec;
    if (peak_kb > programs->peak_largest_kb) {
        programs->peak_largest_kb = peak_kb;
    }
}
