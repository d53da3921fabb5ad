/* adm_doorbell.h - which of a child's parked tickets were granted.
 * Called by adm_zone and adm_ticket.
 *
 * What its dispatcher calls is in adm.h.
 */
#ifndef ADM_DOORBELL_H
#define ADM_DOORBELL_H

#include "adm_layout.h"

/** The ticket parked in this slot was granted: wake the child's dispatcher. Any
 *  process may call it, after the zone's unlock. One system call. */
void adm_doorbell_ring_slot(adm_segment_t *segment, uint32_t child_idx,
                            uint32_t slot);

#endif
