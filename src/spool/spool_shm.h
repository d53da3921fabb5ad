/* spool_shm.h - what is kept for slow clients, over all children.
 * Included by adm.h, which is what others include.
 *
 * Counts in the record of each child, so that what a killed one kept, and the
 * system has taken back, counts no longer. No lock.
 */
#ifndef ADM_PUBLIC_SPOOL_H
#define ADM_PUBLIC_SPOOL_H

#include "adm/base.h"

/**
 * Ask to keep @a bytes more, in memory or in a file.
 *
 * @param limit  that all living children keep together at most, in bytes. Of two
 *               that ask for the last room at once, both may be refused.
 * @return whether they may be kept: then give them back with adm_spool_give_back().
 */
bool adm_spool_take(adm_child_t *child, uint64_t bytes, uint64_t limit);

/** Of what adm_spool_take() allowed, so many bytes are kept no longer. Any thread
 *  of the child; does nothing in a process that the child forked. */
void adm_spool_give_back(adm_child_t *child, uint64_t bytes);

/** A request's body or answer is transferred without a worker from now on: it
 *  takes a connection as a parked request does, adm_worker_limit_connections().
 *  @return whether there is room for it; if not, nothing has changed. */
bool adm_spool_begin_transfer(adm_child_t *child);

/** It is no longer. */
void adm_spool_end_transfer(adm_child_t *child);

/** @return whether no process of the server was told so within @a interval:
 *  something cannot be kept. */
bool adm_spool_may_log(adm_segment_t *segment, adm_usec_t now,
                       adm_usec_t interval);

#endif
