/* recycle_shm.h - whose turn it is to end.
 * Included by recycle.c and by tests.
 *
 * Any thread of any child may call these functions. They take no lock.
 */
#ifndef RECYCLE_SHM_H
#define RECYCLE_SHM_H

#include "core/adm.h"

/** No more children can be away at once. */
#define RECYCLE_TURNS_MAX 64

/** What the outputs show. */
typedef struct recycle_view_t {
    uint64_t ended;           /* children whose quota was used up */
    uint32_t away;            /* of these, not replaced yet */
    adm_usec_t away_max_usec; /* the longest time that one was */
} recycle_view_t;

/**
 * How many connections the calling child may serve: one number of min..max for
 * each new child, such that any that follow each other are spread evenly.
 */
uint32_t recycle_quota(adm_segment_t *segment, uint32_t min, uint32_t max);

/**
 * Ask for the turn to end. At most @a together (up to RECYCLE_TURNS_MAX) children
 * have one at a time, from now until a child has taken their place.
 *
 * @return whether the child may end; it has to do so soon.
 */
bool recycle_take_turn(adm_child_t *child, uint32_t together, adm_usec_t now);

/** The calling child is new and ready: one that ended is away no longer. */
void recycle_take_place(adm_child_t *child, adm_usec_t now);

/** Count a child that ends because its quota is used up, on an MPM where children take
 *  no turns. */
void recycle_count(adm_segment_t *segment);

recycle_view_t recycle_view(const adm_segment_t *segment);

#endif
