/* adm_zone.h - the zone's lock, and every step of a ticket under it.
 * Called by adm_ticket, adm_reap, adm_round and adm_view.
 */
#ifndef ADM_ZONE_H
#define ADM_ZONE_H

#include "adm_layout.h"

/** Take a zone's lock, but wait for it no longer than @a patience; 0: not at all.
 *  Rebuilds the zone first if its last owner died inside, and ends the tickets
 *  that were left to whoever locks next.
 *  @return the zone, or NULL with the reason in @a rv. */
adm_zone_rec_t *adm_zone_lock_for(adm_segment_t *segment, uint32_t zone_idx,
                                  adm_usec_t patience, apr_status_t *rv);

/** Take a zone's lock as adm_zone_lock_for() does, briefly, if the handle is still that
 *  of the zone in its place; else @a rv is ADM_ZONE_RETIRED. */
adm_zone_rec_t *adm_zone_open(adm_segment_t *segment, adm_zone_t handle,
                              adm_usec_t now, apr_status_t *rv);

/** Settle the grants, pass on those whose lease is over, hand free permits to
 *  the first in the queue that can run, unlock, wake those who got one; again if there
 *  were many. Every way out of a zone's lock goes through here, so that no free
 *  permit is left beside a waiter. */
void adm_zone_unlock(adm_segment_t *segment, adm_zone_rec_t *zone,
                     adm_usec_t now);

/** Take a ticket for a request and make it ACTIVE or WAITING, with all counts.
 *  @return APR_SUCCESS with its number in @a ticket, or ADM_NO_TICKET. */
apr_status_t adm_zone_begin_ticket_locked(adm_child_t *child,
                                          adm_zone_rec_t *zone,
                                          enum adm_ticket_state_t state,
                                          const adm_entry_t *entry,
                                          adm_usec_t now, adm_ticket_t *ticket);

/** From now on the ticket holds its permit for its program alone. */
void adm_zone_orphan_ticket_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                                   uint32_t ticket_idx, adm_usec_t now);

/** End a ticket that has not run, and count its request once: as @a outcome, or as
 *  admitted if it has begun and is counted so already. */
void adm_zone_cancel_ticket_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                                   uint32_t ticket_idx, adm_outcome_t outcome);

/** End a ticket in whatever state it is: state, counts, list, free list. */
void adm_zone_end_ticket_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                                uint32_t ticket_idx);

/** The same, with the patience of a request. */
static inline adm_zone_rec_t *adm_zone_lock(adm_segment_t *segment,
                                            uint32_t zone_idx, apr_status_t *rv)
{
    return adm_zone_lock_for(segment, zone_idx, ADM_LOCK_LONG_USEC, rv);
}

#endif
