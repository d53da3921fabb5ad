/* adm_dry_run.h - what would happen to a request if the limit applied.
 * Called by adm_ticket_enter, under the zone's lock.
 */
#ifndef ADM_DRY_RUN_H
#define ADM_DRY_RUN_H

#include "adm_layout.h"

/** Decide what the limit would do with a request. A dry run itself admits every
 *  request. Notes in the statistics and in @a ticket how many requests would be
 *  ahead of it. @return ADM_ADMITTED, or an outcome of a dry run. */
adm_outcome_t adm_dry_run_locked(const adm_segment_t *segment,
                                 adm_zone_rec_t *zone, const adm_entry_t *entry,
                                 adm_usec_t now, adm_ticket_t *ticket);

#endif
