/* adm/recycle.h - whose turn it is to end.
 * Included by adm.h, which is what others include.
 */
#ifndef ADM_PUBLIC_RECYCLE_H
#define ADM_PUBLIC_RECYCLE_H

#include "adm/base.h"

/** No more children can be away at once. */
#define ADM_TURNS_MAX 64

/**
 * How many connections the calling child may serve: one number of min..max for
 * each new child, such that any that follow each other are spread evenly.
 */
uint32_t adm_recycle_quota(adm_segment_t *segment, uint32_t min, uint32_t max);

/**
 * Ask for the turn to end. At most @a together (up to ADM_TURNS_MAX) children
 * have one at a time, from now until a child has taken their place.
 *
 * @return whether the child may end; it has to do so soon.
 */
bool adm_recycle_take_turn(adm_child_t *child, uint32_t together,
                           adm_usec_t now);

/** The calling child is new and ready: one that ended is away no longer. */
void adm_recycle_take_place(adm_child_t *child, adm_usec_t now);

/** Count a child that ends because its quota is used up, where nobody takes
 *  turns. */
void adm_recycle_count(adm_segment_t *segment);

#endif
