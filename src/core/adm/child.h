/* adm/child.h - a child process: register, stop, end.
 * Included by adm.h, which is what others include.
 */
#ifndef ADM_PUBLIC_CHILD_H
#define ADM_PUBLIC_CHILD_H

#include "base.h"

/**
 * Register the calling process. Reclaims permits of dead children, unless the
 * agent is at work.
 *
 * Call it in the main thread of a new child. The thread must live as long as
 * the process: other processes take its end for the child's.
 *
 * @return APR_SUCCESS, ADM_NO_CHILD, or ADM_BAD_SEGMENT if the segment's header
 *         is not what this code wrote
 */
apr_status_t adm_child_register(adm_child_t **child, adm_segment_t *segment,
                                uint32_t generation, apr_pool_t *pool);

/** End all waits of this child with ADM_STOPPED, now and later.
 *  Async-signal-safe. */
void adm_child_stop(adm_child_t *child);

/** @return whether adm_child_stop() was called. */
bool adm_child_is_stopping(const adm_child_t *child);

/** @return whether the caller is the registered process, and not a fork of it.
 *  No system call. */
bool adm_child_is_self(const adm_child_t *child);

/** Report whether the child has an idle worker, so that a parked ticket could
 *  start once granted. A hint: while it has none, other children's tickets are
 *  granted first. */
void adm_child_note_room(adm_child_t *child, bool has_idle_worker);

/**
 * Note that a child process has ended, and wake the agent. Takes no lock.
 *
 * Only for the parent. A PID that is not registered is ignored.
 */
void adm_child_ended(adm_segment_t *segment, pid_t pid);

#endif
