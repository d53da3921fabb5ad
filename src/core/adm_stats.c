/* adm_stats.c - figures, and consistent copies of them. */
#include "adm_layout.h"

/* Bucket n: below 2^n milliseconds. */
static unsigned bucket_of(uint64_t duration_usec)
{
    uint64_t msec = duration_usec / ADM_USEC_PER_MSEC;
    unsigned bucket = msec ? 64 - (unsigned)__builtin_clzll(msec) : 0;

    return bucket < ADM_HISTOGRAM_BUCKETS ? bucket : ADM_HISTOGRAM_BUCKETS - 1;
}

void adm_durations_add(adm_durations_t *durations, adm_usec_t duration)
{
    uint64_t usec = duration > 0 ? (uint64_t)duration : 0;

    durations->count++;
    durations->sum_usec += usec;
    if (usec > durations->max_usec) {
        durations->max_usec = usec;
    }
    durations->bucket[bucket_of(usec)]++;
}

static adm_usec_t oldest_wait_locked(const adm_segment_t *segment,
                                     const adm_zone_rec_t *zone, adm_usec_t now)
{
    const adm_ticket_rec_t *first = adm_ticket_at(segment, zone->head_idx);

    /* Somebody may have come after the clock was read. */
    return first && now > first->since_usec ? now - first->since_usec : 0;
}

apr_status_t adm_zone_stats(adm_child_t *child, adm_zone_t zone, adm_usec_t now,
                            adm_zone_stats_t *stats)
{
    adm_segment_t *segment = child->segment;
    apr_status_t rv;
    adm_zone_rec_t *rec = adm_zone_lock_for(segment, zone.idx,
                                            ADM_LOCK_BRIEF_USEC, &rv);

    if (!rec) {
        return rv;
    }
    if (rec->applied_incarnation != zone.incarnation) {
        adm_zone_unlock(segment, rec, now);
        return ADM_ZONE_RETIRED;
    }
    *stats = (adm_zone_stats_t){
        .limit = atomic_load(&rec->limit),
        .queue_length = atomic_load(&rec->queue_length),
        .active = atomic_load(&rec->active),
        .orphans = atomic_load(&rec->orphans),
        .queued = atomic_load(&rec->queued),
        .queued_max = rec->queued_max,
        .oldest_wait_usec = oldest_wait_locked(segment, rec, now),
        .admitted = rec->admitted,
        .admitted_after_wait = rec->admitted_after_wait,
        .exempt = rec->exempt,
        .rejected_full = rec->rejected_full,
        .rejected_timeout = rec->rejected_timeout,
        .rejected_reserve = rec->rejected_reserve,
        .rejected_parking = rec->rejected_parking,
        .gone = rec->gone,
        .reclaimed = rec->reclaimed,
        .wait = rec->wait,
        .service = rec->service
    };
    adm_zone_unlock(segment, rec, now);
    return APR_SUCCESS;
}

void adm_server_stats(adm_segment_t *segment, adm_server_stats_t *stats)
{
    uint32_t used = atomic_load(&segment->header->children_used);
    uint32_t idx;

    *stats = (adm_server_stats_t){
        .worker_cap = atomic_load(&segment->header->worker_cap),
        .unlimited = atomic_load(&segment->header->unlimited),
        .recycled = atomic_load(&segment->header->recycled),
        .away = adm_recycle_away(segment),
        .away_max_usec = atomic_load(&segment->header->away_max_usec)
    };
    for (idx = 1; idx <= used && idx <= segment->sizes.children; idx++) {
        adm_child_rec_t *rec = adm_child_at(segment, idx);

        if (adm_life_state(atomic_load(&rec->life)) == ADM_LIFE_LIVE) {
            stats->workers_held += atomic_load(&rec->workers_held);
            stats->blocked += atomic_load(&rec->blocked);
            stats->workers_blocked += atomic_load(&rec->workers_blocked);
            stats->parked += atomic_load(&rec->parked);
        }
    }
}

bool adm_zone_may_log(adm_segment_t *segment, adm_zone_t zone,
                      adm_event_t event, adm_usec_t now, adm_usec_t interval)
{
    adm_zone_rec_t *rec = adm_zone_at(segment, zone.idx);
    _Atomic int64_t *logged_at = rec ? &rec->logged_at[event]
                                     : &segment->header->logged_at[event];
    int64_t last = atomic_load(logged_at);

    /* One of those who come at the same time wins. A time in the future is
     * corrupt: treat it as due. */
    return (last == 0 || now - last >= interval || last > now + interval)
           && atomic_compare_exchange_strong(logged_at, &last, now);
}
