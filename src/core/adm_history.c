/* adm_history.c - a zone's last ten minutes, second by second.
 * Called by adm_zone, under the zone's lock; by adm_view with a copy.
 *
 * Written only when something changes, by the process that changes it: nothing
 * is sampled, and an idle zone costs nothing.
 */
#include "adm_history.h"
#include "adm_layout.h"
#include "adm_limit.h"

/* The offset keeps the second ten minutes ago positive, because the clock can
 * start at 0. */
uint32_t adm_history_second_of(adm_usec_t time)
{
    return (uint32_t)(time / ADM_USEC_PER_SEC) + ADM_HISTORY_SECONDS;
}

static adm_second_rec_t *slot_of(adm_history_rec_t *history, uint32_t second)
{
    return &history->seconds[second % ADM_HISTORY_SECONDS];
}

static void raise_max(uint16_t *max, uint32_t number)
{
    if (number > *max) {
        *max = adm_to_16_bits(number);
    }
}

static adm_history_rec_t *history_of(const adm_segment_t *segment,
                                     const adm_zone_rec_t *zone)
{
    return &segment->history_recs[zone - segment->zone_recs];
}

/* Fill the seconds from @a noted_second, which is complete, to @a second:
 * nothing changed in between. */
static void note_seconds(adm_history_rec_t *history, uint32_t noted_second,
                         uint32_t second)
{
    adm_second_rec_t unchanged = {
        .active_max = adm_to_16_bits(history->active),
        .queued_max = adm_to_16_bits(history->queued)
    };
    uint32_t since = second - noted_second;
    uint32_t i;

    for (i = 0; i < since && i < ADM_HISTORY_SECONDS; i++) {
        *slot_of(history, second - i) = unchanged;
    }
}

/* Checked before the history is read: even a read would allocate its pages. */
static bool has_no_history(const adm_zone_rec_t *zone)
{
    return zone->noted_second == 0;
}

/* ---- limits --------------------------------------------------------------- */

/* Set the limit of the seconds @a first to @a last, at most of the last ten
 * minutes of them. */
static void set_limits(adm_history_rec_t *history, uint32_t first,
                       uint32_t last, uint32_t limit)
{
    uint32_t i;

    for (i = 0; i < ADM_HISTORY_SECONDS && last - i >= first; i++) {
        history->limits[(last - i) % ADM_HISTORY_SECONDS] = adm_to_16_bits(
            limit);
    }
}

void adm_history_note_limit_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                                   adm_usec_t now)
{
    adm_history_rec_t *history = history_of(segment, zone);
    uint32_t changed = atomic_load(&zone->limit_changed_second);
    uint32_t noted = zone->limit_noted_second;
    uint32_t limit = adm_limit_effective(zone);
    uint32_t second = adm_history_second_of(now);

    if (noted == 0) {
        noted = second - ADM_HISTORY_SECONDS;
        history->limit = changed > noted ? atomic_load(&zone->limit_before) - 1
                                         : limit;
    }
    if (second < noted) {
        second = noted; /* another process read the clock later */
    }
    set_limits(history, noted + 1, second, history->limit);
    if (limit != history->limit) {
        /* The parent has recorded the second of its change. All other processes
         * call this function immediately after a change. */
        set_limits(history,
                   changed > noted && changed <= second ? changed : second,
                   second, limit);
        history->limit = limit;
    }
    zone->limit_noted_second = second; /* last: if this process is killed, the
                                        * next one repeats it all */
}

/* Whether the limit has changed since it was last recorded. */
static bool has_other_limit(const adm_segment_t *segment,
                            const adm_zone_rec_t *zone)
{
    return zone->limit_noted_second != 0
               ? history_of(segment, zone)->limit != adm_limit_effective(zone)
               : atomic_load(&zone->limit_changed_second) != 0;
}

/* ---- requests ------------------------------------------------------------- */

void adm_history_note_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             adm_usec_t now)
{
    adm_history_rec_t *history = history_of(segment, zone);
    uint32_t active = atomic_load_explicit(&zone->active, memory_order_relaxed);
    uint32_t queued = atomic_load_explicit(&zone->queued, memory_order_relaxed);
    uint64_t rejected = adm_figures_rejected(&zone->figures);
    uint64_t rejected_since;
    uint32_t second = adm_history_second_of(now);
    adm_second_rec_t *slot;

    if (has_no_history(zone) && active == 0 && queued == 0 && rejected == 0) {
        return;
    }
    rejected_since = rejected - history->rejected;
    if (history->active == active && history->queued == queued
        && rejected_since == 0) {
        return;
    }
    /* Another process might have read the clock later, and recorded that
     * already. */
    if (second > zone->noted_second) {
        if (!has_no_history(zone)) {
            note_seconds(history, zone->noted_second, second);
        }
        zone->noted_second = second;
    }
    slot = slot_of(history, zone->noted_second);
    raise_max(&slot->active_max, active);
    raise_max(&slot->queued_max, queued);
    history->active = active;
    history->queued = queued;
    /* In this order: a process killed in between does not count them twice. */
    history->rejected = rejected;
    atomic_signal_fence(memory_order_seq_cst);
    slot->rejected += (uint32_t)rejected_since;
}

void adm_history_clear_locked(adm_segment_t *segment, adm_zone_rec_t *zone)
{
    if (has_no_history(zone) && zone->limit_noted_second == 0) {
        return;
    }
    *history_of(segment, zone) = (adm_history_rec_t){ 0 };
    zone->limit_noted_second = 0;
    zone->noted_second = 0; /* last: if this process is killed, the next one
                             * clears it again */
}

/* ---- copy ---------------------------------------------------------------- */

void adm_history_copy_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             adm_usec_t now, adm_remembered_t *remembered)
{
    if (has_other_limit(segment, zone)) {
        adm_history_note_limit_locked(segment, zone, now);
    }
    remembered->noted_second = zone->noted_second;
    remembered->limit_noted_second = zone->limit_noted_second;
    remembered->limit = adm_limit_effective(zone);
    if (has_no_history(zone) && zone->limit_noted_second == 0) {
        remembered->rec = (adm_history_rec_t){ 0 };
    }
    else {
        remembered->rec = *history_of(segment, zone);
    }
}

/* Backwards from now: the rejections of a second are subtracted to get the
 * total before it. Nothing has changed since the last recorded second. */
void adm_history_copy_out(adm_remembered_t *remembered, adm_usec_t now,
                          adm_history_t *history)
{
    adm_history_rec_t *rec = &remembered->rec;
    uint64_t rejected = rec->rejected;
    uint32_t second = adm_greater(adm_history_second_of(now),
                                  adm_greater(remembered->noted_second,
                                              remembered->limit_noted_second));
    uint32_t i;

    for (i = ADM_HISTORY_SECONDS; i > 0; i--, second--) {
        const adm_second_rec_t *slot = second <= remembered->noted_second
                                           ? slot_of(rec, second)
                                           : NULL;

        history->active[i - 1] = slot ? slot->active_max : rec->active;
        history->queued[i - 1] = slot ? slot->queued_max : rec->queued;
        history->rejected[i - 1] = rejected;
        history->limit[i - 1] = second <= remembered->limit_noted_second
                                    ? rec->limits[second % ADM_HISTORY_SECONDS]
                                    : remembered->limit;
        rejected -= slot ? slot->rejected : 0;
    }
}
