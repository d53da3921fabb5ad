/* fair_search.h - select the next ticket in a zone with a fair queue.
 * Called by adm_hand_over, under the zone's lock.
 */
#ifndef FAIR_SEARCH_H
#define FAIR_SEARCH_H

#include "core/adm_grant.h"

/** Find the ticket to grant next, in the order of turns. */
adm_winner_t fair_turn_find_winner_locked(const adm_segment_t *segment,
                                          const adm_zone_rec_t *zone);

/**
 * Find the oldest grant that may be passed on and that another waiter can use.
 * Marks the children of the grants that are checked.
 * @return its ticket; 0: none.
 */
uint32_t fair_turn_find_loser_locked(const adm_segment_t *segment,
                                     const adm_zone_rec_t *zone,
                                     adm_usec_t now);

#endif
