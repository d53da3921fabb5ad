/* fair_ring.h - rings: which flow has the next turn.
 * Called by fair_flow and fair_search, under the zone's lock.
 *
 * A ring has the flows of one priority whose keys hold the same number of
 * permits (the level). The flow with the fewest permits is served first. A flow
 * is in one ring for each priority with which it waits, or in none if its key
 * has reached its maximum.
 */
#ifndef FAIR_RING_H
#define FAIR_RING_H

#include "core/adm_layout.h"

/** @return the flow of this number; NULL if the number is invalid. */
static inline fair_flow_rec_t *fair_ring_flow(adm_flow_table_rec_t *table,
                                              uint32_t flow_idx)
{
    return flow_idx - 1 < ADM_FLOWS ? &table->flows[flow_idx - 1] : NULL;
}

/** @return the number of a ring. */
static inline unsigned fair_ring_number(unsigned priority, unsigned kind,
                                        unsigned level)
{
    return (priority * FAIR_RING_KINDS + kind) * FAIR_FLOW_LEVELS + level;
}

/** Position at which a flow is inserted. */
enum fair_ring_end_t { FAIR_RING_FIRST, FAIR_RING_LAST };

/** Insert a flow into the ring of @a priority, @a kind and its level; remove it
 *  from the ring of @a priority that it was in. */
void fair_ring_put(adm_flow_table_rec_t *table, uint32_t flow_idx,
                   unsigned priority, unsigned kind, enum fair_ring_end_t end);

/** Remove a flow from its ring of @a priority, if it is in one. */
void fair_ring_take(adm_flow_table_rec_t *table, uint32_t flow_idx,
                    unsigned priority);

/** Record that a flow of this ring had its turn. */
void fair_ring_note_turn(adm_flow_table_rec_t *table, unsigned ring);

/** @return whether a flow of @a priority is in a ring. */
static inline bool fair_ring_has_any(const adm_flow_table_rec_t *table,
                                     unsigned priority)
{
    return (table->levels[priority][FAIR_RING_UNSEEN]
            | table->levels[priority][FAIR_RING_OTHERS])
           != 0;
}

/** @return the number of turns of priority @a other while @a priority has
 *  @a turns, if both always have waiters. */
uint64_t fair_ring_turns_beside(unsigned priority, unsigned other,
                                uint64_t turns);

/** @return whether any flow is in a ring. */
bool fair_ring_is_any_next(const adm_flow_table_rec_t *table);

/** Fill @a order with the priorities that have flows in rings, in the order of
 *  their turns. @return the number of priorities. */
unsigned fair_ring_priorities(const adm_flow_table_rec_t *table,
                              unsigned order[ADM_PRIORITIES]);

#endif
