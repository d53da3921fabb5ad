/* adm_memory.h - memory that a process shares with its children.
 * Called by adm_segment.
 */
#ifndef ADM_MEMORY_H
#define ADM_MEMORY_H

#include <stddef.h>

#include <apr_errno.h>

/**
 * Map memory that is zeroed, anonymous, and shared with all children forked
 * later. Physical memory is allocated per page, when the page is first used.
 *
 * @param bytes  more than 0
 * @return APR_SUCCESS with the address in @a base, or the system's reason
 */
apr_status_t adm_memory_create(void **base, size_t bytes);

/** Unmap the memory, in this process only. */
void adm_memory_destroy(void *base, size_t bytes);

#endif
