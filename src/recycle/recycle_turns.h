/* recycle_turns.h - quotas of connections, and the turns in which children end.
 * Included by recycle.c and by tests.
 *
 * All functions can be called by any thread of any child. They take no lock.
 */
#ifndef RECYCLE_TURNS_H
#define RECYCLE_TURNS_H

#include "core/adm.h"

/** Maximum of children that are away (ended and not yet replaced). */
#define RECYCLE_TURNS_MAX 64

/** Values for the status outputs. */
typedef struct recycle_view_t {
    uint64_t ended;           /* children that have used up their quota */
    uint32_t away;            /* of these, not replaced yet */
    adm_usec_t away_max_usec; /* longest time until a child was replaced */
} recycle_view_t;

/**
 * Draw the calling child's quota of connections.
 * @return a number from @a min to @a max. Consecutive numbers are spread
 *         evenly.
 */
uint32_t recycle_quota(adm_segment_t *segment, uint32_t min, uint32_t max);

/**
 * Request a turn to end. A turn lasts until a new child is ready, or until no
 * replacement can be expected any more.
 * @param together  maximum number of turns taken, up to RECYCLE_TURNS_MAX
 * @return whether the child has a turn. It must then end soon.
 */
bool recycle_take_turn(adm_child_t *child, uint32_t together, adm_usec_t now);

/** Free the turn of a child that has ended: the calling child is its
 *  replacement, and ready. */
void recycle_return_turn(adm_child_t *child, adm_usec_t now);

/** Count a child that has used up its quota, on an MPM without turns. */
void recycle_count(adm_segment_t *segment);

/** @return the values of this moment. They are read one by one, without a
 *  lock. */
recycle_view_t recycle_view(const adm_segment_t *segment);

#endif
