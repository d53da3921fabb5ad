/* adm_zone.h - lock a zone, and change the state of its tickets.
 * Called by adm_ticket, adm_round and adm_view.
 *
 * Functions that end in _locked need the zone's lock.
 */
#ifndef ADM_ZONE_H
#define ADM_ZONE_H

#include "adm_layout.h"

/**
 * Lock a zone. Waits for at most @a patience microseconds; 0: does not block.
 * Repairs the zone if its last owner was killed, and ends tickets whose
 * requests left while the lock was out of reach.
 *
 * @return the zone; NULL with the reason in @a rv: ADM_ZONE_BUSY,
 *         ADM_INTERRUPTED, ADM_LOCK_LOST, APR_EINVAL
 */
adm_zone_rec_t *adm_zone_lock_for(adm_segment_t *segment, uint32_t zone_idx,
                                  adm_usec_t patience, apr_status_t *rv);

/** Lock the zone that a handle names. Waits for at most ADM_LOCK_BRIEF_USEC.
 *  @return as adm_zone_lock_for(); ADM_ZONE_RETIRED in @a rv if the slot has
 *  another zone now. */
adm_zone_rec_t *adm_zone_open(adm_segment_t *segment, adm_zone_t handle,
                              adm_usec_t now, apr_status_t *rv);

/** @return for how long the zone's lock has been out of reach, in microseconds,
 *  as far as any process has tried it. */
adm_usec_t adm_zone_stuck_for(const adm_zone_rec_t *zone, adm_usec_t now);

/** Unlock a zone, after handing over its free and unused permits; then wake the
 *  winners. Repeats this if there were many. The only way to unlock, so that no
 *  permit stays free while a ticket waits for it. */
void adm_zone_unlock(adm_segment_t *segment, adm_zone_rec_t *zone,
                     adm_usec_t now);

/** Allocate a ticket and make it ACTIVE or WAITING. @return APR_SUCCESS with
 *  its number in @a ticket, or ADM_NO_TICKET. */
apr_status_t adm_zone_begin_ticket_locked(adm_child_t *child,
                                          adm_zone_rec_t *zone,
                                          enum adm_ticket_state_t state,
                                          const adm_entry_t *entry,
                                          adm_usec_t now, adm_ticket_t *ticket);

/** Make an ACTIVE ticket ORPHANED: only its program holds the permit now. */
void adm_zone_orphan_ticket_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                                   uint32_t ticket_idx, adm_usec_t now);

/** End a ticket that has not run. Counts its request once: as @a outcome,
 *  unless its start has been settled and so counted. */
void adm_zone_cancel_ticket_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                                   uint32_t ticket_idx, adm_outcome_t outcome);

/** End a ticket in any state, with its counts and lists. Frees its permit, if
 *  it has one. */
void adm_zone_end_ticket_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                                uint32_t ticket_idx);

/** Lock a zone with the patience of a request, ADM_LOCK_LONG_USEC. */
static inline adm_zone_rec_t *adm_zone_lock(adm_segment_t *segment,
                                            uint32_t zone_idx, apr_status_t *rv)
{
    return adm_zone_lock_for(segment, zone_idx, ADM_LOCK_LONG_USEC, rv);
}

/** Wake the agent for @a watch in this zone, and no longer for the rest of
 *  @a which: ADM_WATCH_*. Only for the agent. */
void adm_zone_watch_locked(adm_zone_rec_t *zone, unsigned which,
                           unsigned watch);

#endif
