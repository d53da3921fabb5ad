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

static adm_usec_t look(adm_segment_t *segment, uint32_t zone_idx,
                       bool cannot_wait, adm_usec_t now)
{
    adm_zone_rec_t *zone = adm_zone_at(segment, zone_idx);
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
    zone = adm_zone_lock_for(segment, zone_idx, 0, &rv);
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

adm_usec_t adm_lease_look(adm_child_t *child, adm_zone_t zone, adm_usec_t now)
{
    bool cannot_begin = atomic_load(&child->rec->room) != ADM_ROOM_IDLE;

    return look(child->segment, zone.idx, cannot_begin, now);
}

adm_usec_t adm_lease_round(adm_segment_t *segment, adm_usec_t now)
{
    uint32_t used = atomic_load(&segment->header->zones_used);
    adm_usec_t first = 0;
    uint32_t idx;

    for (idx = 1; idx <= used && idx <= segment->sizes.zones; idx++) {
        adm_usec_t until = look(segment, idx, false, now);

        if (until && (first == 0 || until < first)) {
            first = until;
        }
    }
    return first;
}
