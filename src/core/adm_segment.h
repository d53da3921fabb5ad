/* adm_segment.h - the segment, as the parent made it.
 * Called by adm_round and fleet_shm.
 *
 * The module's functions are in adm/segment.h.
 */
#ifndef ADM_SEGMENT_H
#define ADM_SEGMENT_H

#include "adm_layout.h"

/** @return whether the header is what this process's parent wrote. */
bool adm_segment_is_ours(const adm_segment_t *segment);

/** Fill @a bytes with random bytes; with the time, if the system has none
 *  yet. */
void adm_segment_random(void *bytes, size_t length);

#endif
