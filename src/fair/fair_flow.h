/* fair_flow.h - what a zone knows of each key, and what its tickets asked for.
 * Called by adm_zone, adm_hand_over, adm_ticket_enter, adm_view and adm_pool, under
 * the zone's lock.
 *
 * Only of zones for which adm_flow_table() is not NULL. All of it is a cache of
 * tickets and asks but for the asks themselves.
 */
#ifndef FAIR_FLOW_H
#define FAIR_FLOW_H

#include "core/adm_layout.h"

/** @return whether requests of a zone are told apart. One load. */
static inline bool adm_flow_is_used(const adm_zone_rec_t *zone)
{
    return zone->applied_table_idx != 0;
}

/** @return the flows of a zone, NULL if it does not use any. */
static inline adm_flow_table_rec_t *adm_flow_table(const adm_segment_t *segment,
                                                   const adm_zone_rec_t *zone)
{
    return adm_flow_table_at(segment, zone->applied_table_idx);
}

/** @return how many permits a ticket has or asks for. */
static inline uint32_t adm_flow_cost(const adm_segment_t *segment,
                                     const adm_zone_rec_t *zone,
                                     uint32_t ticket_idx)
{
    return adm_flow_is_used(zone) ? adm_ask_at(segment, ticket_idx)->cost : 1;
}

/** Note what a request asks for, before the state of its ticket is stored. @a limit:
 *  if it is to hold permits, of how many. */
void adm_flow_ask_locked(adm_segment_t *segment, const adm_entry_t *entry,
                         uint32_t ticket_idx, uint32_t limit);

/**
 * Whether a request may run at once, may wait, or neither.
 *
 * @return ADM_ADMITTED, ADM_WAITING, or ADM_FULL or ADM_SHARE: there is no place,
 *         for anybody or for its key.
 */
adm_outcome_t adm_flow_place_locked(adm_segment_t *segment,
                                    const adm_zone_rec_t *zone,
                                    const adm_entry_t *entry);

/* Each of these follows a store of the ticket's state. What it holds beyond one
 * permit is added to the zone's `active`, or taken from it. */

/** A ticket has come to wait. */
void adm_flow_append_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                            uint32_t ticket_idx);

/** A ticket waits again where it stood: its permits were passed on. */
void adm_flow_return_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                            uint32_t ticket_idx);

/** A ticket that waited has left. */
void adm_flow_leave_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                           uint32_t ticket_idx);

/** A ticket that waited was granted its permits. */
void adm_flow_grant_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                           uint32_t ticket_idx);

/** A ticket that did not wait holds its permits from now on. */
void adm_flow_hold_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                          uint32_t ticket_idx);

/** A ticket holds its permits no more. */
void adm_flow_drop_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                          uint32_t ticket_idx);

/** @return whether a flow may have what its first waiter of @a priority asks for
 *  beside @a held permits. */
bool adm_flow_is_below_max(const adm_segment_t *segment,
                           const adm_flow_rec_t *flow, unsigned priority,
                           uint32_t held);

/** @return what another ticket has to say to take the place of this one; the name of
 *  its key is copied to @a name. Of a zone without flows it says nothing that is
 *  looked at. */
adm_entry_t adm_flow_entry_of(const adm_segment_t *segment, uint32_t ticket_idx,
                              char name[ADM_KEY_NAME]);

/** A ticket is to be granted: it takes what it needs where @a limit permits may be
 *  out. Before the state of the ticket is stored. */
void adm_flow_settle_cost_locked(adm_segment_t *segment,
                                 const adm_zone_rec_t *zone,
                                 uint32_t ticket_idx, uint32_t limit);

/** How many permits a ticket takes where @a limit may be out. */
uint32_t adm_flow_need(const adm_ask_rec_t *ask, uint32_t limit);

/** Forget all flows: they are derived again. */
void adm_flow_forget_locked(adm_segment_t *segment, adm_zone_rec_t *zone);

/** Make the ask of a ticket that counts its own: if it is an earlier one's, one
 *  without a key. */
void adm_flow_own_ask_locked(adm_segment_t *segment, uint32_t ticket_idx);

/** @return whether what a request asks for is free. Of any zone: where flows are
 *  not used a request asks for one permit. */
bool adm_flow_has_permits_for(const adm_zone_rec_t *zone,
                              const adm_entry_t *entry);

/** @return which of the sizes a cost has: 0, which is not asked for, that of 1. */
static inline unsigned adm_flow_size_of(uint16_t cost)
{
    return 31U - (unsigned)__builtin_clz(cost | 1U);
}

/** @return how many requests of a key wait. Zone lock. */
uint32_t adm_flow_waiting(const adm_flow_table_rec_t *table, uint64_t key);

/** @return how many others are served before a request with this key, if each that
 *  waits has its turn before it. */
uint64_t adm_flow_turns_before(const adm_flow_table_rec_t *table, uint64_t key);

#endif
