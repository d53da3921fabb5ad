/* park_lease.h - zones in which this child's dispatcher checks that granted
 * permits are used.
 *
 * For the dispatcher thread only (park_lot.c): no lock.
 */
#ifndef PARK_LEASE_H
#define PARK_LEASE_H

#include "core/adm.h"

/** Let the dispatcher check the zone at @a when, or earlier if an earlier check
 *  is already set. Call when a permit was granted in a zone in which this child
 *  has parked requests. */
void admission_lease_watch(adm_zone_t zone, adm_usec_t when);

/** @return when the next zone must be checked; @a latest if that is earlier. */
adm_usec_t admission_lease_next(adm_usec_t latest);

/** Check the zones that are due, and pass on permits that are not used. */
void admission_lease_check(adm_child_t *child, adm_usec_t now);

/** @return whether a worker of this child is idle; true if unknown. Reads the
 *  child's part of the scoreboard. */
bool admission_lease_has_idle_worker(void);

#endif
