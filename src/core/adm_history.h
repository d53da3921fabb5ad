/* adm_history.h - a zone's last ten minutes, second by second.
 * Called by adm_zone, under the zone's lock; by adm_view with a copy.
 */
#ifndef ADM_HISTORY_H
#define ADM_HISTORY_H

#include "adm_layout.h"

/** @return the number of the second, as histories count seconds. */
uint32_t adm_history_second_of(adm_usec_t time);

/** Record the zone's active and queued, if they have changed. */
void adm_history_note_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             adm_usec_t now);

/** Record the zone's limit, if it has changed. A process that sets a limit
 *  under the zone's lock calls this before and after. A process that shows the
 *  history calls it, because the parent sets limits without the lock. */
void adm_history_note_limit_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                                   adm_usec_t now);

/** Clear the history: the slot has a new zone. */
void adm_history_clear_locked(adm_segment_t *segment, adm_zone_rec_t *zone);

/** Copy of a zone's history, and until when it is recorded. */
typedef struct adm_remembered_t {
    adm_history_rec_t rec;
    uint32_t noted_second;
    uint32_t limit_noted_second;
    uint32_t limit; /* current limit */
} adm_remembered_t;

/** Copy a zone's history. */
void adm_history_copy_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             adm_usec_t now, adm_remembered_t *remembered);

/** Expand a copy to one value per second, until @a now. No lock. */
void adm_history_copy_out(adm_remembered_t *remembered, adm_usec_t now,
                          adm_history_t *history);

#endif
