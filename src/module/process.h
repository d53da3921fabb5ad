/* process.h - this process in the shared memory. */
#ifndef MODULE_PROCESS_H
#define MODULE_PROCESS_H

#include "core/adm.h"

/** Use this segment from now on, and in all children; NULL: none. The parent. */
void admission_process_use(adm_segment_t *segment);

/** @return the segment; NULL before post_config. */
adm_segment_t *admission_process_segment(void);

/** Register this new child. A failure is logged, and its requests run without a
 *  limit; so they do while it has privileges (privilege.h). */
void admission_process_register(uint32_t generation, apr_pool_t *pchild);

/** @return this process in the segment; NULL when nothing can be counted. A
 *  process that was forked from a child to serve a request is registered when
 *  it first asks and has no privileges. */
adm_child_t *admission_process_child(void);

/** @return the same; no process is registered for it. */
adm_child_t *admission_process_own_child(void);

/** @return why admission_process_child() is NULL: ADM_NO_CHILD, or APR_EACCES if
 *  it is for its privileges. */
apr_status_t admission_process_fault(void);

#endif
