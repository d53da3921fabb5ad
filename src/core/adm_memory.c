/* adm_memory.c - memory that a process shares with its children.
 * Called by adm_segment.
 */
#include <errno.h>
#include <sys/mman.h>

#include "adm_memory.h"

apr_status_t adm_memory_create(void **base, size_t bytes)
{
    *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return *base == MAP_FAILED ? errno : APR_SUCCESS;
}

void adm_memory_destroy(void *base, size_t bytes)
{
    munmap(base, bytes);
}
