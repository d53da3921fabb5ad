/* adm_figures.c - what a zone counts.
 * Called by adm_zone and adm_ticket, under the zone's lock.
 */
#include "adm_figures.h"
#include "adm_layout.h"
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

void adm_figures_note_queued_locked(adm_zone_rec_t *zone, uint32_t queued)
{
    if (queued > zone->queued_max) {
        zone->queued_max = queued;
    }
}

void adm_figures_note_served_locked(adm_zone_rec_t *zone, adm_usec_t served)
{
    adm_figures_add_duration(&zone->service, served);
    zone->service_mean_usec = law_wait_mean(zone->service_mean_usec,
                                            zone->service.count, served);
}

void adm_figures_count_reason_locked(adm_zone_rec_t *zone, adm_reason_t reason)
{
    switch (reason) {
    case ADM_REASON_TIMEOUT:
        zone->rejected_timeout++;
        break;
    case ADM_REASON_RESERVE:
        zone->rejected_reserve++;
        break;
    case ADM_REASON_PARKING:
        zone->rejected_parking++;
        break;
    case ADM_REASON_GONE:
        zone->gone++;
        break;
    case ADM_REASON_STUCK:
    case ADM_REASON_STOPPING:
        break;
    }
}
