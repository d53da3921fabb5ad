/* adm_history.c - a zone's last ten minutes, second by second.
 *
 * Written when something changes, by whoever changed it: nobody has to sample,
 * and an idle zone costs nothing.
 */
#include "adm_layout.h"

/* The clock may begin at zero, but ten minutes ago must not be before that. */
static uint32_t second_of(adm_usec_t time)
{
    return (uint32_t)(time / ADM_USEC_PER_SEC) + ADM_HISTORY_SECONDS;
}

static adm_second_rec_t *slot_of(const adm_segment_t *segment,
                                 const adm_zone_rec_t *zone, uint32_t second)
{
    adm_history_rec_t *history =
        &segment->history_recs[zone - segment->zone_recs];

    return &history->seconds[second % ADM_HISTORY_SECONDS];
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

void adm_history_note_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             adm_usec_t now)
{
    const adm_second_rec_t *last = slot_of(segment, zone, zone->noted_second);
    uint32_t active = atomic_load_explicit(&zone->active, memory_order_relaxed);
    uint32_t queued = atomic_load_explicit(&zone->queued, memory_order_relaxed);
    uint64_t rejected = zone->rejected_full + zone->rejected_timeout
                        + zone->rejected_reserve + zone->rejected_parking;
    uint32_t second = second_of(now);
    adm_second_rec_t *slot;

    if (last->active == active && last->queued == queued
        && last->rejected == rejected) {
        return;
    }
    /* Somebody's clock reading may be older than what is noted already. */
    if (second < zone->noted_second) {
        second = zone->noted_second;
    }
    slot = slot_of(segment, zone, second);
    if (second != zone->noted_second) {
        /* It began as the last one ended. */
        *slot = (adm_second_rec_t){ .second = second,
                                    .active_max = last->active,
                                    .queued_max = last->queued,
                                    .active_before = last->active,
                                    .queued_before = last->queued,
                                    .rejected_before = last->rejected };
        zone->noted_second = second;
    }
    slot->active = active;
    slot->queued = queued;
    slot->rejected = rejected;
    slot->active_max = larger(slot->active_max, active);
    slot->queued_max = larger(slot->queued_max, queued);
}

void adm_history_clear_locked(adm_segment_t *segment, adm_zone_rec_t *zone)
{
    if (zone->noted_second == 0) {
        return; /* nothing was noted, and the zeros take no memory */
    }
    segment->history_recs[zone - segment->zone_recs] = (adm_history_rec_t){ 0 };
    zone->noted_second = 0; /* last: whoever is killed has not cleared it */
}

/* What the zone had before the first second that is asked for: what the first
 * one noted from then on began with; else it has not changed since. */
static adm_second_rec_t state_before(const adm_history_rec_t *history,
                                     uint32_t first_second)
{
    adm_second_rec_t newest = { 0 };
    uint32_t i;

    for (i = 0; i < ADM_HISTORY_SECONDS; i++) {
        const adm_second_rec_t *slot =
            &history->seconds[(first_second + i) % ADM_HISTORY_SECONDS];

        if (slot->second >= first_second) {
            return (adm_second_rec_t){ .active = slot->active_before,
                                       .queued = slot->queued_before,
                                       .rejected = slot->rejected_before };
        }
        if (slot->second >= newest.second) {
            newest = *slot;
        }
    }
    return newest;
}

static void copy_out(const adm_history_rec_t *rec, uint32_t last_second,
                     adm_history_t *history)
{
    uint32_t first = last_second - (ADM_HISTORY_SECONDS - 1);
    adm_second_rec_t state = state_before(rec, first);
    uint32_t i;

    for (i = 0; i < ADM_HISTORY_SECONDS; i++) {
        const adm_second_rec_t *slot =
            &rec->seconds[(first + i) % ADM_HISTORY_SECONDS];
        bool is_noted = slot->second == first + i;

        history->active[i] = is_noted ? slot->active_max : state.active;
        history->queued[i] = is_noted ? slot->queued_max : state.queued;
        if (is_noted) {
            state = *slot;
        }
        history->rejected[i] = state.rejected;
    }
}

apr_status_t adm_zone_history(adm_child_t *child, adm_zone_t zone,
                              adm_usec_t now, adm_history_t *history)
{
    adm_segment_t *segment = child->segment;
    apr_status_t rv;
    adm_zone_rec_t *rec = adm_zone_lock_for(segment, zone.idx,
                                            ADM_LOCK_BRIEF_USEC, &rv);
    adm_history_rec_t copy;

    if (!rec) {
        return rv;
    }
    if (rec->applied_incarnation != zone.incarnation) {
        adm_zone_unlock(segment, rec, now);
        return ADM_ZONE_RETIRED;
    }
    copy = segment->history_recs[zone.idx - 1];
    adm_zone_unlock(segment, rec, now);
    copy_out(&copy, second_of(now), history);
    return APR_SUCCESS;
}
