/* adm_figures.h - what a zone counts.
 * Called by adm_zone and adm_ticket, under the zone's lock.
 */
#ifndef ADM_FIGURES_H
#define ADM_FIGURES_H

#include "adm_layout.h"

/** Count a duration; a negative one as 0. */
void adm_figures_add_duration(adm_durations_t *durations, adm_usec_t duration);

/** The queue is this long now. */
void adm_figures_note_queued_locked(adm_zone_rec_t *zone, uint32_t queued);

/** A request has ended that held a permit for so long. */
void adm_figures_note_served_locked(adm_zone_rec_t *zone, adm_usec_t served);

/** A waiter has left for this reason. */
void adm_figures_count_reason_locked(adm_zone_rec_t *zone, adm_reason_t reason);

#endif
