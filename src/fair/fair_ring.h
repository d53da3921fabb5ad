/* fair_ring.h - rings of flows: who is to have a turn, by permits held.
 * Called by fair_flow and fair_turn, under the zone's lock.
 *
 * A flow is in one ring for each priority with which it waits, or in none.
 */
#ifndef FAIR_RING_H
#define FAIR_RING_H

#include "core/adm_layout.h"

/** @return the flow of this number, NULL for numbers that cannot be. */
static inline adm_flow_rec_t *adm_ring_flow(adm_flow_table_rec_t *table,
                                            uint32_t flow_idx)
{
    return flow_idx - 1 < ADM_FLOWS ? &table->flows[flow_idx - 1] : NULL;
}

/** @return the number of a ring. */
static inline unsigned adm_ring_number(unsigned priority, unsigned kind,
                                       unsigned level)
{
    return (priority * ADM_RING_KINDS + kind) * ADM_FLOW_LEVELS + level;
}

/** Where in a ring a flow is put. */
enum adm_ring_end_t { ADM_RING_FIRST, ADM_RING_LAST };

/** Put a flow into a ring of @a priority and of its level, out of another one if it is
 *  in one. */
void adm_ring_put(adm_flow_table_rec_t *table, uint32_t flow_idx,
                  unsigned priority, unsigned kind, enum adm_ring_end_t end);

/** Take a flow out of its ring of @a priority, if it is in one. */
void adm_ring_take(adm_flow_table_rec_t *table, uint32_t flow_idx,
                   unsigned priority);

/** The flow of this ring had its turn. */
void adm_ring_note_turn(adm_flow_table_rec_t *table, unsigned ring);

/** @return whether any flow of @a priority is in a ring. */
static inline bool adm_ring_has_any(const adm_flow_table_rec_t *table,
                                    unsigned priority)
{
    return (table->levels[priority][ADM_RING_UNSEEN]
            | table->levels[priority][ADM_RING_OTHERS])
           != 0;
}

/** @return how many turns requests of the priority @a other have while those of
 *  @a priority have so many, if both wait all the time. */
uint64_t adm_ring_turns_beside(unsigned priority, unsigned other,
                               uint64_t turns);

/** @return whether any flow is in a ring. */
bool adm_ring_is_anybody_next(const adm_flow_table_rec_t *table);

/** Fill @a order with the priorities of which flows are in rings, the one whose
 *  turn it is first. @return how many. */
unsigned adm_ring_priorities(const adm_flow_table_rec_t *table,
                             unsigned order[ADM_PRIORITIES]);

#endif
