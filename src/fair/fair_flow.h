/* fair_flow.h - state of each key of a fair queue, and what its tickets ask
 * for.
 * Called by adm_zone, adm_hand_over, adm_ticket_enter, adm_view and adm_pool,
 * under the zone's lock.
 *
 * A flow is the state of one key: permits held, and tickets waiting. All
 * flows are a cache, derived from tickets and asks. Unless stated otherwise, the
 * zone must have a flow table (fair_flow_table()).
 */
#ifndef FAIR_FLOW_H
#define FAIR_FLOW_H

#include "core/adm_layout.h"

/** @return whether a zone has a fair queue. One load. */
static inline bool fair_flow_is_used(const adm_zone_rec_t *zone)
{
    return zone->applied_table_idx != 0;
}

/** @return the flow table of a zone; NULL if it has none. */
static inline adm_flow_table_rec_t *
fair_flow_table(const adm_segment_t *segment, const adm_zone_rec_t *zone)
{
    return adm_flow_table_at(segment, zone->applied_table_idx);
}

/** @return how many permits a ticket holds. */
static inline uint32_t fair_flow_cost(const adm_segment_t *segment,
                                      const adm_zone_rec_t *zone,
                                      uint32_t ticket_idx)
{
    return fair_flow_is_used(zone) ? adm_ask_at(segment, ticket_idx)->cost : 1;
}

/**
 * Record what a request asks for, before its ticket's state is stored.
 * @param limit  the limit that bounds its cost, see fair_flow_need()
 */
void fair_flow_ask_locked(adm_segment_t *segment, const adm_entry_t *entry,
                          uint32_t ticket_idx, uint32_t limit);

/**
 * Decide whether a request can run immediately, can wait, or neither.
 * @return ADM_ADMITTED; ADM_WAITING; ADM_FULL if the queue is full; ADM_SHARE
 *         if its key has used up its share of the queue.
 */
adm_outcome_t fair_flow_decide_locked(adm_segment_t *segment,
                                      const adm_zone_rec_t *zone,
                                      const adm_entry_t *entry);

/** What a ticket does to the flow of its key. */
enum fair_flow_part_t {
    FAIR_FLOW_OUT, /* nothing: it has not entered, or has left */
    FAIR_FLOW_WAITS,
    FAIR_FLOW_HOLDS /* permits */
};

/** Follow a ticket's state, after it is stored. A ticket that held permits and
 *  waits again gets its old position. The permits beyond the first one are
 *  added to the zone's `active`, or subtracted. */
void fair_flow_change_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             uint32_t ticket_idx, enum fair_flow_part_t from,
                             enum fair_flow_part_t to);

/** The same for any zone. */
static inline void fair_flow_follow_locked(adm_segment_t *segment,
                                           adm_zone_rec_t *zone,
                                           uint32_t ticket_idx,
                                           enum fair_flow_part_t from,
                                           enum fair_flow_part_t to)
{
    if (fair_flow_is_used(zone)) {
        fair_flow_change_locked(segment, zone, ticket_idx, from, to);
    }
}

/** @return whether the key's maximum allows what a ticket asks for, in addition
 *  to @a held permits; false if @a ask is NULL. */
bool fair_flow_is_below_max(const adm_ask_rec_t *ask, uint32_t held);

/** @return an entry with what this ticket asked for, for a ticket that replaces
 *  it. @param name  filled with the key's name. The entry is unused in a zone
 *  without flows. */
adm_entry_t fair_flow_entry_of(const adm_segment_t *segment,
                               uint32_t ticket_idx, char name[ADM_KEY_NAME]);

/** Set the cost that a ticket takes when it is granted, before its state is
 *  stored. @param limit  see fair_flow_need() */
void fair_flow_set_cost_locked(adm_segment_t *segment, uint32_t ticket_idx,
                               uint32_t limit);

/** @return the permits that a request takes if @a limit permits exist: as many
 *  as it asked for, bounded by its key's maximum and the limit, at least 1. */
uint32_t fair_flow_need(const adm_ask_rec_t *ask, uint32_t limit);

/** Clear all flows. The caller derives them again. */
void fair_flow_clear_locked(adm_segment_t *segment, adm_zone_rec_t *zone);

/** Replace the ask of a ticket that counts if it is left from an earlier ticket
 *  or corrupt, by one permit without a key. */
void fair_flow_repair_ask_locked(adm_segment_t *segment, uint32_t ticket_idx);

/** @return what an entry asks for, without the fields of its ticket. */
adm_ask_rec_t fair_flow_ask_of(const adm_entry_t *entry);

/** @return whether the permits that a request asks for are free. */
bool fair_flow_fits(const adm_zone_rec_t *zone, const adm_ask_rec_t *ask);

/** @return the size class of a cost: the exponent of the next lower power of
 *  2. */
static inline unsigned fair_flow_size_of(uint32_t cost)
{
    return 31U - (unsigned)__builtin_clz(cost | 1U);
}

/** @return the flow that a key has, or would get; never NULL. */
const fair_flow_rec_t *fair_flow_of_key(const adm_flow_table_rec_t *table,
                                        uint64_t key);

/** @return how many requests are served before a request with this key, if all
 *  keys take turns. */
uint64_t fair_flow_turns_before(const adm_flow_table_rec_t *table,
                                uint64_t key);

#endif
