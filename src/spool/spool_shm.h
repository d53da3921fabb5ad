/* spool_shm.h - what is kept for slow clients, over all children.
 * Included by spool_kept.c and spool.c.
 *
 * Counts in the record of each child, so that what a killed one kept, and the
 * system has taken back, counts no longer. No lock.
 */
#ifndef SPOOL_SHM_H
#define SPOOL_SHM_H

#include "core/adm.h"

/**
 * Ask to keep @a bytes more, in memory or in a file.
 *
 * @param limit  that all living children keep together at most, in bytes. Of two
 *               that ask for the last room at once, both may be refused.
 * @return whether they may be kept: then give them back with spool_give_back().
 */
bool spool_take(adm_child_t *child, uint64_t bytes, uint64_t limit);

/** Of what spool_take() allowed, so many bytes are kept no longer. Any thread
 *  of the child; does nothing in a process that the child forked. */
void spool_give_back(adm_child_t *child, uint64_t bytes);

/** @return how many bytes a child keeps. */
uint64_t spool_bytes_of(const adm_segment_t *segment, uint32_t child_idx);

/** @return how many bytes all living children keep. */
uint64_t spool_bytes(const adm_segment_t *segment);

/** @return whether no process of the server was told so within @a interval:
 *  something cannot be kept. */
bool spool_may_log(adm_segment_t *segment, adm_usec_t now, adm_usec_t interval);

#endif
