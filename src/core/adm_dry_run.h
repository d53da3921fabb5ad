/* adm_dry_run.h - what would become of a request if the limit held.
 * Called by adm_ticket_enter, under the zone's lock.
 */
#ifndef ADM_DRY_RUN_H
#define ADM_DRY_RUN_H

#include "adm_layout.h"

/** A dry run admits everybody. @return what would have become of this one; notes in
 *  the figures and in @a ticket how many would be ahead of it. */
adm_outcome_t adm_dry_run_locked(const adm_segment_t *segment,
                                 adm_zone_rec_t *zone, const adm_entry_t *entry,
                                 adm_usec_t now, adm_ticket_t *ticket);

#endif
