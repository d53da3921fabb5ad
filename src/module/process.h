/* process.h - this process's registration in the shared memory. */
#ifndef MODULE_PROCESS_H
#define MODULE_PROCESS_H

#include "core/adm.h"

/** Set the segment for this process and all later children; NULL: none. Called
 *  by the parent. */
void admission_process_use(adm_segment_t *segment);

/** @return the segment; NULL before post_config, or if there is none. */
adm_segment_t *admission_process_segment(void);

/** Register this new child. After a failure, which is logged, its requests run
 *  without a limit; also while the child has privileges (privilege.h). */
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

#endif
