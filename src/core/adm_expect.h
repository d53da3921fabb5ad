/* adm_expect.h - estimate how long a new request would have to wait.
 * Called by adm_ticket_enter and adm_dry_run, under the zone's lock.
 */
#ifndef ADM_EXPECT_H
#define ADM_EXPECT_H

#include "adm_layout.h"

/** Start to maintain the mean that estimates need. */
void adm_expect_begin_locked(adm_zone_rec_t *zone);

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

#endif
