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

static adm_second_rec_t *slot_of(adm_history_rec_t *history, uint32_t second)
{
    return &history->seconds[second % ADM_HISTORY_SECONDS];
}

static adm_history_rec_t *history_of(const adm_segment_t *segment,
                                     const adm_zone_rec_t *zone)
{
    return &segment->history_recs[zone - segment->zone_recs];
}

static uint16_t larger(uint16_t most, uint32_t number)
{
    uint32_t larger = most > number ? most : number;

    return larger < UINT16_MAX ? (uint16_t)larger : UINT16_MAX;
}

/* From the noted second, whose end is noted, to this one. */
static void note_seconds(adm_history_rec_t *history, uint32_t noted_second,
                         uint32_t second)
{
    adm_second_rec_t as_before = { .active_max = larger(0, history->active),
                                   .queued_max = larger(0, history->queued) };
    uint32_t since = second - noted_second;
    uint32_t i;

    for (i = 0; i < since && i < ADM_HISTORY_SECONDS; i++) {
        *slot_of(history, second - i) = as_before;
    }
}

/* Also to read a page of a history costs one. */
static bool is_untouched(const adm_zone_rec_t *zone)
{
    return zone->noted_second == 0;
}

void adm_history_note_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             adm_usec_t now)
{
    adm_history_rec_t *history = history_of(segment, zone);
    uint32_t active = atomic_load_explicit(&zone->active, memory_order_relaxed);
    uint32_t queued = atomic_load_explicit(&zone->queued, memory_order_relaxed);
    uint64_t rejected = zone->rejected_full + zone->rejected_timeout
                        + zone->rejected_reserve + zone->rejected_parking;
    uint64_t rejected_since;
    uint32_t second = second_of(now);
    adm_second_rec_t *slot;

    if (is_untouched(zone) && active == 0 && queued == 0 && rejected == 0) {
        return;
    }
    rejected_since = rejected - history->rejected;
    if (history->active == active && history->queued == queued
        && rejected_since == 0) {
        return;
    }
    /* Somebody's clock reading may be older than what is noted already. */
    if (second > zone->noted_second) {
        if (!is_untouched(zone)) {
            note_seconds(history, zone->noted_second, second);
        }
        zone->noted_second = second;
    }
    slot = slot_of(history, zone->noted_second);
    slot->active_max = larger(slot->active_max, active);
    slot->queued_max = larger(slot->queued_max, queued);
    history->active = active;
    history->queued = queued;
    /* In this order: whoever is killed has not counted them twice. */
    history->rejected = rejected;
    slot->rejected += (uint32_t)rejected_since;
}

void adm_history_clear_locked(adm_segment_t *segment, adm_zone_rec_t *zone)
{
    if (is_untouched(zone)) {
        return;
    }
    *history_of(segment, zone) = (adm_history_rec_t){ 0 };
    zone->noted_second = 0; /* last: whoever is killed has not cleared it */
}

/* Backwards, from now to ten minutes ago: what is rejected in a second was not
 * before it. */
static void copy_out(adm_history_rec_t *rec, uint32_t noted_second,
                     uint32_t last_second, adm_history_t *history)
{
    uint64_t rejected = rec->rejected;
    uint32_t i, second = last_second;

    for (i = ADM_HISTORY_SECONDS; i > 0; i--, second--) {
        /* Nothing has changed since the noted second. */
        const adm_second_rec_t *slot = second <= noted_second
                                           ? slot_of(rec, second)
                                           : NULL;

        history->active[i - 1] = slot ? slot->active_max : rec->active;
        history->queued[i - 1] = slot ? slot->queued_max : rec->queued;
        history->rejected[i - 1] = rejected;
        rejected -= slot ? slot->rejected : 0;
    }
}

apr_status_t adm_zone_history(adm_child_t *child, adm_zone_t zone,
                              adm_usec_t now, adm_history_t *history)
{
    adm_segment_t *segment = child->segment;
    apr_status_t rv;
    adm_zone_rec_t *rec = adm_zone_lock_for(segment, zone.idx,
                                            ADM_LOCK_BRIEF_USEC, &rv);
    adm_history_rec_t copy = { 0 };
    uint32_t noted_second;

    if (!rec) {
        return rv;
    }
    if (rec->applied_incarnation != zone.incarnation) {
        adm_zone_unlock(segment, rec, now);
        return ADM_ZONE_RETIRED;
    }
    noted_second = rec->noted_second;
    if (!is_untouched(rec)) {
        copy = *history_of(segment, rec);
    }
    adm_zone_unlock(segment, rec, now);
    /* Somebody's clock reading may be newer. */
    copy_out(&copy, noted_second,
             second_of(now) > noted_second ? second_of(now) : noted_second,
             history);
    return APR_SUCCESS;
}
