/* adm_lease.c - whether the permits that were handed over are used.
 * Called by adm_ticket, and by the module.
 *
 * Every unlock of a zone passes on unused permits whose time is over. A waiter that
 * would only wait for another process to unlock calls this: it unlocks when it is due.
 */
#include "adm_layout.h"
#include "adm_zone.h"

/* Nothing is granted: a guard stays until another one would be rung. */
static adm_usec_t end_of_guard(const adm_zone_rec_t *zone, adm_usec_t now)
{
    adm_usec_t until = atomic_load(&zone->guarded_until);

    return now < until && until <= now + ADM_LEASE_USEC ? until : 0;
}

adm_usec_t adm_lease_look(adm_child_t *child, adm_zone_t handle, adm_usec_t now)
{
    adm_segment_t *segment = child->segment;
    adm_zone_rec_t *zone = adm_zone_at(segment, handle.idx);
    bool cannot_wait = atomic_load(&child->rec->room) != ADM_ROOM_IDLE;
    adm_usec_t until;
    apr_status_t rv;

    if (!zone) {
        return 0;
    }
    until = atomic_load(&zone->lease_until);
    if (until == 0) {
        return end_of_guard(zone, now);
    }
    if (now < until && !cannot_wait) {
        return until;
    }
    /* Whoever has the lock passes on when it unlocks. */
    zone = adm_zone_lock_for(segment, handle.idx, 0, &rv);
    if (!zone) {
        return rv == ADM_ZONE_BUSY ? now + ADM_LOCK_BRIEF_USEC : 0;
    }
    adm_zone_unlock(segment, zone, now);
    until = atomic_load(&zone->lease_until);
    if (until == 0) {
        return end_of_guard(zone, now);
    }
    /* Nobody could take what is over already. */
    return until <= now ? now + ADM_LEASE_USEC : until;
}
