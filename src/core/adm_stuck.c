/* adm_stuck.c - a zone's lock that is out of reach: its owner was stopped.
 * Called by adm_zone and adm_ticket.
 *
 * No process waits for such a lock indefinitely. A request that wants a permit
 * runs without one; a request that has a ticket leaves it to the next owner of
 * the lock.
 */
#include "adm_layout.h"
#include "adm_lock.h"
#include "adm_stuck.h"

adm_usec_t adm_stuck_busy_for(const adm_zone_rec_t *zone, adm_usec_t now)
{
    adm_usec_t since = atomic_load(&zone->stuck_since);

    return since > 0 && since < now ? now - since : 0;
}

adm_lock_result_t adm_stuck_acquire(adm_zone_rec_t *zone, adm_usec_t patience)
{
    adm_usec_t now = adm_now();
    adm_usec_t left = ADM_LOCK_LONG_USEC - adm_stuck_busy_for(zone, now);
    adm_lock_result_t result;
    adm_usec_t never = 0;

    if (left < ADM_LOCK_BRIEF_USEC) {
        left = ADM_LOCK_BRIEF_USEC;
    }
    result = adm_lock_acquire(&zone->lock,
                              now + (left < patience ? left : patience));
    if (result == ADM_LOCK_BUSY && !adm_lock_is_held_here()) {
        atomic_compare_exchange_strong(&zone->stuck_since, &never, now);
    }
    return result;
}
