/* adm_memory.h - memory that a process shares with its children.
 * Called by adm_segment.
 */
#ifndef ADM_MEMORY_H
#define ADM_MEMORY_H

#include <stddef.h>

#include <apr_errno.h>

/**
 * Make it, of zeros, without a name, shared with all children forked from now on.
 * Memory of the machine is taken page by page, when a page is first written.
 * @param bytes more than 0
 * @return APR_SUCCESS and its address in @a base, or why there is none.
 */
apr_status_t adm_memory_create(void **base, size_t bytes);

/** Give it back, in this process. */
void adm_memory_destroy(void *base, size_t bytes);

#endif
