/* adm_lease.c - check whether granted permits are used.
 * Called by adm_ticket, and by the module.
 *
 * Every unlock of a zone passes on the permits of expired leases. A waiter
 * calls adm_lease_check() so that it need not rely on other processes to
 * unlock.
 */
#include "adm_layout.h"
#include "adm_zone.h"

/* @return the time until which no other guard is appointed: the current guard
 * must check again then, even if nothing is granted now. 0: there is none. */
static adm_usec_t end_of_guard(const adm_zone_rec_t *zone, adm_usec_t now)
{
    adm_usec_t until = atomic_load(&zone->guarded_until);

    return now < until && until <= now + ADM_LEASE_USEC ? until : 0;
}

adm_usec_t adm_lease_check(adm_child_t *child, adm_zone_t handle,
                           adm_usec_t now)
{
    adm_segment_t *segment = child->segment;
    adm_zone_rec_t *zone = adm_zone_at(segment, handle.idx);
    bool cannot_run = atomic_load(&child->rec->room) != ADM_ROOM_IDLE;
    adm_usec_t until;
    apr_status_t rv;

    if (!zone) {
        return 0;
    }
    until = atomic_load(&zone->lease_until);
    if (until != 0 && (now >= until || cannot_run)) {
        /* The current owner of the lock passes permits on when it unlocks. */
        if (!adm_zone_lock_for(segment, handle.idx, 0, &rv)) {
            return rv == ADM_ZONE_BUSY ? now + ADM_LOCK_BRIEF_USEC : 0;
        }
        adm_zone_unlock(segment, zone, now);
        until = atomic_load(&zone->lease_until);
        if (until != 0 && until <= now) {
            return now + ADM_LEASE_USEC; /* no other ticket can run: retry */
        }
    }
    return until != 0 ? until : end_of_guard(zone, now);
}
