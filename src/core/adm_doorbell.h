/* adm_doorbell.h - tell a child which of its parked tickets were granted.
 * Called by adm_zone and adm_ticket.
 *
 * The dispatcher's functions are in adm/ticket.h.
 */
#ifndef ADM_DOORBELL_H
#define ADM_DOORBELL_H

#include "adm_layout.h"

/** Report that the ticket parked in @a slot was granted, and wake the child's
 *  dispatcher. Any process, after it has unlocked the zone. One system call. */
void adm_doorbell_ring_slot(adm_segment_t *segment, uint32_t child_idx,
                            uint32_t slot);

#endif
