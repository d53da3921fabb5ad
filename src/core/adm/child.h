/* adm/child.h - a child: registered, stopped, ended.
 * Included by adm.h, which is what others include.
 */
#ifndef ADM_PUBLIC_CHILD_H
#define ADM_PUBLIC_CHILD_H

#include "base.h"

/**
 * Register the calling process, and take back what dead ones held, unless the
 * agent does.
 *
 * The main thread of a new child, which must live as long as the process: its
 * life is what others take for the child's.
 *
 * @return APR_SUCCESS, ADM_NO_CHILD, ADM_BAD_SEGMENT (its header is not what
 *         this code wrote).
 */
apr_status_t adm_child_register(adm_child_t **child, adm_segment_t *segment,
                                uint32_t generation, apr_pool_t *pool);

/** From now on waits of this child end with ADM_STOPPED. Async-signal-safe. */
void adm_child_stop(adm_child_t *child);

/** @return whether adm_child_stop() was called. */
bool adm_child_is_stopping(const adm_child_t *child);

/** @return whether the caller is the process that registered, and not
 *  something that it forked. No system call. */
bool adm_child_is_self(const adm_child_t *child);

/** Tell whether a parked ticket of this child could begin if it was granted. A
 *  hint: other children's waiters go first while it could not. */
void adm_child_note_room(adm_child_t *child, bool has_idle_worker);

/**
 * Note that a child process has ended, for whatever reason, and wake the agent.
 * Takes no lock.
 *
 * The parent. A pid that is not registered is ignored.
 */
void adm_child_ended(adm_segment_t *segment, pid_t pid);

#endif
