/* adm_history.h - a zone's last ten minutes.
 * Called by adm_zone, under the zone's lock; by adm_view with a copy.
 */
#ifndef ADM_HISTORY_H
#define ADM_HISTORY_H

#include "adm_layout.h"

/** @return the second of a time, counted as the history counts. */
uint32_t adm_history_second_of(adm_usec_t time);

/** Note the zone's active and queued in its history, if they changed. */
void adm_history_note_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             adm_usec_t now);

/** Note the zone's limit, if it has changed. By whoever sets it with the zone's lock,
 *  before and after; by whoever looks, for what the parent has set without it. */
void adm_history_note_limit_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                                   adm_usec_t now);

/** Forget all: the place has another zone now. */
void adm_history_clear_locked(adm_segment_t *segment, adm_zone_rec_t *zone);

/** What a zone remembers, and until when. */
typedef struct adm_remembered_t {
    adm_history_rec_t rec;
    uint32_t noted_second;
    uint32_t limit_noted_second;
    uint32_t limit; /* now */
} adm_remembered_t;

/** Copy it. */
void adm_history_copy_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             adm_usec_t now, adm_remembered_t *remembered);

/** Spread what is noted over the seconds until @a now. No lock. */
void adm_history_copy_out(adm_remembered_t *remembered, adm_usec_t now,
                          adm_history_t *history);

#endif
