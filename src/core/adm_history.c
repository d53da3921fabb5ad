/* adm_history.c - a zone's last ten minutes, second by second.
 * Called by adm_zone, under the zone's lock; by adm_view with a copy.
 *
 * Written when something changes, by whoever changed it: nobody has to sample,
 * and an idle zone costs nothing.
 */
#include "adm_history.h"
#include "adm_layout.h"

/* The clock may begin at zero, but ten minutes ago must not be before that. */
uint32_t adm_history_second_of(adm_usec_t time)
{
    return (uint32_t)(time / ADM_USEC_PER_SEC) + ADM_HISTORY_SECONDS;
}

static adm_second_rec_t *slot_of(adm_history_rec_t *history, uint32_t second)
{
    return &history->seconds[second % ADM_HISTORY_SECONDS];
}

static uint16_t at_most_16_bits(uint32_t number)
{
    return number < UINT16_MAX ? (uint16_t)number : UINT16_MAX;
}

static void note_most(uint16_t *most, uint32_t number)
{
    if (number > *most) {
        *most = at_most_16_bits(number);
    }
}

adm_history_rec_t *adm_history_of(const adm_segment_t *segment,
                                  const adm_zone_rec_t *zone)
{
    return &segment->history_recs[zone - segment->zone_recs];
}

/* From the noted second, whose end is noted, to this one. */
static void note_seconds(adm_history_rec_t *history, uint32_t noted_second,
                         uint32_t second)
{
    adm_second_rec_t as_before = {
        .active_max = at_most_16_bits(history->active),
        .queued_max = at_most_16_bits(history->queued)
    };
    uint32_t since = second - noted_second;
    uint32_t i;

    for (i = 0; i < since && i < ADM_HISTORY_SECONDS; i++) {
        *slot_of(history, second - i) = as_before;
    }
}

/* Also to read a page of a history costs one. */
bool adm_history_is_untouched(const adm_zone_rec_t *zone)
{
    return zone->noted_second == 0;
}

void adm_history_note_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             adm_usec_t now)
{
    adm_history_rec_t *history = adm_history_of(segment, zone);
    uint32_t active = atomic_load_explicit(&zone->active, memory_order_relaxed);
    uint32_t queued = atomic_load_explicit(&zone->queued, memory_order_relaxed);
    uint64_t rejected = adm_figures_rejected(&zone->figures);
    uint64_t rejected_since;
    uint32_t second = adm_history_second_of(now);
    adm_second_rec_t *slot;

    if (adm_history_is_untouched(zone) && active == 0 && queued == 0
        && rejected == 0) {
        return;
    }
    rejected_since = rejected - history->rejected;
    if (history->active == active && history->queued == queued
        && rejected_since == 0) {
        return;
    }
    /* Somebody's clock reading may be older than what is noted already. */
    if (second > zone->noted_second) {
        if (!adm_history_is_untouched(zone)) {
            note_seconds(history, zone->noted_second, second);
        }
        zone->noted_second = second;
    }
    slot = slot_of(history, zone->noted_second);
    note_most(&slot->active_max, active);
    note_most(&slot->queued_max, queued);
    history->active = active;
    history->queued = queued;
    /* In this order: whoever is killed has not counted them twice. */
    history->rejected = rejected;
    slot->rejected += (uint32_t)rejected_since;
}

void adm_history_clear_locked(adm_segment_t *segment, adm_zone_rec_t *zone)
{
    if (adm_history_is_untouched(zone)) {
        return;
    }
    *adm_history_of(segment, zone) = (adm_history_rec_t){ 0 };
    zone->noted_second = 0; /* last: whoever is killed has not cleared it */
}

/* Backwards, from now to ten minutes ago: what is rejected in a second was not
 * before it. */
void adm_history_copy_out(adm_history_rec_t *rec, uint32_t noted_second,
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
