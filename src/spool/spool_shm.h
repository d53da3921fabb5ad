/* spool_shm.h - bytes buffered for slow clients, in all children together.
 * Included by spool_buffer.c and spool.c.
 *
 * Counted in each child's record, so the buffers of a killed child no longer
 * count. No lock.
 */
#ifndef SPOOL_SHM_H
#define SPOOL_SHM_H

#include "core/adm.h"

/**
 * Reserve @a bytes more, in memory or in a file. Release them with
 * spool_release().
 * @param limit  maximum for all living children together, in bytes. Of two
 *         concurrent calls for the last bytes, both can fail.
 * @return whether they are reserved.
 */
bool spool_reserve(adm_child_t *child, uint64_t bytes, uint64_t limit);

/** Release reserved bytes. Any thread of the child; no effect in a process that
 *  the child forked. */
void spool_release(adm_child_t *child, uint64_t bytes);

/** @return the bytes reserved by a child. */
uint64_t spool_bytes_of(const adm_segment_t *segment, uint32_t child_idx);

/** @return the bytes reserved by all living children. */
uint64_t spool_bytes(const adm_segment_t *segment);

/** @return whether to log that a buffer is full: true once per @a interval for
 *  all processes of the server. */
bool spool_may_log(adm_segment_t *segment, adm_usec_t now, adm_usec_t interval);

#endif
