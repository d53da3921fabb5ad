/* process.h - the segment across restarts, and the registration of children in
 * it.
 */
#ifndef MODULE_PROCESS_H
#define MODULE_PROCESS_H

#include <httpd.h>
#include <mpm_common.h>

#include "core/adm.h"

/** @return the segment; NULL before post_config, or if there is none. */
adm_segment_t *admission_process_segment(void);

/** @return whether a message about an outcome in this zone may be logged now:
 *  once per minute across all children. */
bool admission_process_may_log(adm_zone_t zone, adm_outcome_t outcome);

/** Register this new child. After a failure, which is logged, its requests run
 *  without a limit; also while the child can become another user. */
void admission_process_register(uint32_t generation, apr_pool_t *pchild);

/** @return this process's registration; NULL: its requests run without a limit.
 *  Registers a process that was forked from a child to serve a request, if it
 *  has no privileges. */
adm_child_t *admission_process_child(void);

/** @return admission_process_child(), but without registering a process. */
adm_child_t *admission_process_own_child(void);

/** @return why admission_process_child() is NULL: EACCES if the process has
 *  privileges, otherwise ADM_NO_CHILD. */
apr_status_t admission_process_fault(void);

/** Find or create the segment, and configure the zones in it. Call before the
 *  first fork. No segment while httpd reads its configuration for the first
 *  time. @return OK, or an error that was logged. */
int admission_process_start(server_rec *s);

/** The hook child_status, in the parent: note that a child has exited, and wake
 *  the agent. */
void admission_process_child_status(server_rec *s, pid_t pid,
                                    ap_generation_t gen, int slot,
                                    mpm_child_status status);

/** The hook child_stopping: end all waits of a child that does not stop
 *  gracefully. */
void admission_process_child_stopping(apr_pool_t *pchild, int graceful);

#endif
