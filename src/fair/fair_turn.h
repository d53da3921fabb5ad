/* fair_turn.h - whose turn it is in a zone that uses flows.
 * Called by adm_hand_over, under the zone's lock.
 */
#ifndef FAIR_TURN_H
#define FAIR_TURN_H

#include "core/adm_layout.h"

/**
 * @return the waiter to be granted next, in the order of turns: the first that can
 * run, else the first of a child that is full, else the first. 0 if none may have
 * a permit, or a list is broken: @a is_broken. @a can_run: whether, as far as is
 * known, it can.
 */
uint32_t adm_turn_find_winner_locked(const adm_segment_t *segment,
                                     const adm_zone_rec_t *zone, bool *can_run,
                                     bool *is_broken);

/**
 * Find a grant whose permit may be passed on and that another waiter can use, the one
 * granted first; mark the children of those that are looked at.
 *
 * @return its ticket; 0: none.
 */
uint32_t adm_turn_find_loser_locked(const adm_segment_t *segment,
                                    const adm_zone_rec_t *zone, adm_usec_t now);

#endif
