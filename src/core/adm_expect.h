/* adm_expect.h - how long a request that comes would have to wait.
 * Called by adm_ticket_enter and adm_dry_run, under the zone's lock.
 */
#ifndef ADM_EXPECT_H
#define ADM_EXPECT_H

#include "adm_layout.h"

/** From now on the zone keeps the mean that estimates need. */
void adm_expect_begin_locked(adm_zone_rec_t *zone);

/** @return whether it would have to wait for longer than it may; then @a by is how much
 *  longer. Nobody knows that while the zone is paused: false. */
bool adm_expect_is_late_locked(const adm_segment_t *segment,
                               const adm_zone_rec_t *zone,
                               const adm_entry_t *entry, uint32_t queued,
                               adm_usec_t now, adm_usec_t *by);

/** @return an estimate of when the queue will have drained, by the permits that all
 *  in it ask for; @a queued: how many they are. */
adm_usec_t adm_expect_drain_locked(const adm_segment_t *segment,
                                   const adm_zone_rec_t *zone, uint32_t queued,
                                   adm_usec_t now);

#endif
