/* adm_stuck.h - a zone's lock that is out of reach: its owner was stopped.
 * Called by adm_zone and adm_ticket.
 */
#ifndef ADM_STUCK_H
#define ADM_STUCK_H

#include "adm_layout.h"

/** @return for how long the zone's lock has been out of reach, in microseconds,
 *  as far as any process has tried it. */
adm_usec_t adm_stuck_busy_for(const adm_zone_rec_t *zone, adm_usec_t now);

/** Lock a zone whose lock is held. Waits for at most @a patience microseconds;
 *  for much less if the lock has been out of reach for long. */
adm_lock_result_t adm_stuck_acquire(adm_zone_rec_t *zone, adm_usec_t patience);

#endif
