/* fair_search.h - select the next ticket in a zone with a fair queue.
 * Called by adm_hand_over, under the zone's lock.
 */
#ifndef FAIR_SEARCH_H
#define FAIR_SEARCH_H

#include "core/adm_grant.h"

/** Find the ticket to grant next, in the order of turns. */
adm_winner_t fair_search_winner_locked(const adm_segment_t *segment,
                                       const adm_zone_rec_t *zone);

/**
 * Find the oldest unused grant (adm_grant_is_due()) whose permits another
 * waiting request can use. The caller revokes it and grants its permits again.
 * Marks the children of all unused grants as silent, so that the next search
 * prefers other children.
 * @return the ticket that has the permit; 0: none.
 */
uint32_t fair_search_unused_locked(const adm_segment_t *segment,
                                   const adm_zone_rec_t *zone, adm_usec_t now);

#endif
