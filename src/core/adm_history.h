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

/** Forget all: the place has another zone now. */
void adm_history_clear_locked(adm_segment_t *segment, adm_zone_rec_t *zone);

/** Spread what is noted over the seconds until @a now. No lock: @a rec is the
 *  caller's copy. */
void adm_history_copy_out(adm_history_rec_t *rec, uint32_t noted_second,
                          uint32_t last_second, adm_history_t *history);

/** @return the zone's history. */
adm_history_rec_t *adm_history_of(const adm_segment_t *segment,
                                  const adm_zone_rec_t *zone);

/** @return whether nothing was ever noted of the zone. */
bool adm_history_is_untouched(const adm_zone_rec_t *zone);

#endif
