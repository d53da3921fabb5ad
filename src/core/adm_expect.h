/* adm_expect.h - estimate how long a new request would have to wait, and what
 * would happen to it if the limit of a dry run applied.
 * Called by adm_ticket_enter and adm_ticket, under the zone's lock.
 */
#ifndef ADM_EXPECT_H
#define ADM_EXPECT_H

#include "adm_layout.h"

/** @return whether the request would wait for longer than its target; @a by is
 *  how much longer, in microseconds. Always false while the zone is paused,
 *  because the end of the pause is unknown. */
bool adm_expect_is_late_locked(const adm_segment_t *segment,
                               const adm_zone_rec_t *zone,
                               const adm_entry_t *entry, uint32_t queued,
                               adm_usec_t now, adm_usec_t *by);

/** @return the estimated time until the queue has drained, in microseconds,
 *  from the permits that its requests need. @a queued is its length. */
adm_usec_t adm_expect_drain_locked(const adm_segment_t *segment,
                                   const adm_zone_rec_t *zone, uint32_t queued,
                                   adm_usec_t now);

/** Decide what the limit would do with a request. A dry run itself admits every
 *  request. Notes in the statistics and in @a ticket how many requests would be
 *  ahead of it. @return ADM_ADMITTED, or an outcome of a dry run. */
adm_outcome_t adm_dry_run_locked(const adm_segment_t *segment,
                                 adm_zone_rec_t *zone, const adm_entry_t *entry,
                                 adm_usec_t now, adm_ticket_t *ticket);

#endif
