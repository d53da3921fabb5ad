/* park_lease.h - the zones that this child's dispatcher looks after.
 *
 * Of the dispatcher alone (park_lot.c): one thread, no lock.
 */
#ifndef PARK_LEASE_H
#define PARK_LEASE_H

#include "core/adm.h"

/** A parked ticket of this child was granted in the zone. */
void admission_lease_expect_begin(adm_zone_t zone, adm_usec_t now);

/** Somebody was granted in a zone for which a ticket of this child is parked. */
void admission_lease_watch(adm_zone_t zone, adm_usec_t now);

/** @return when a zone is to be looked at; or @a latest, if that is earlier. */
adm_usec_t admission_lease_next(adm_usec_t latest);

/** Pass on what is not used, where it is time to look. */
void admission_lease_visit(adm_child_t *child, adm_usec_t now);

/** @return whether a worker of this child is idle; true if that is not known. */
bool admission_lease_has_idle_worker(void);

#endif
