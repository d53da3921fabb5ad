/* adm/parking.h - parked tickets, which wait without a thread.
 * Included by adm.h, which is what others include.
 */
#ifndef ADM_PUBLIC_PARKING_H
#define ADM_PUBLIC_PARKING_H

#include "ticket.h"

/** Maximum number of parked tickets per child. */
#define ADM_PARK_SLOTS 16384

/** Park a waiting ticket: its grant rings the child's doorbell with @a slot
 *  (below ADM_PARK_SLOTS) instead of waking a thread. */
void adm_ticket_park(adm_ticket_t *ticket, uint32_t slot);

/** End parking: the ticket continues in the calling worker, granted or not. Its
 *  slot may ring once more. */
void adm_ticket_unpark(adm_ticket_t *ticket);

/** @return until when the dispatcher can sleep, if the doorbell does not
 *  ring. */
typedef adm_usec_t (*adm_until_t)(void *data);

/**
 * Sleep until the doorbell rings, or until what @a until returns. Blocks the
 * calling thread; only one thread per child may call this.
 *
 * @param until  called with @a data right before the sleep, and only then. To
 *               change what it reads, first change it, then call
 *               adm_doorbell_ring(): the sleep ends, and no change is missed.
 * @param slots  filled with the slots that rang
 * @return the number of slots, at most @a max; 0 if only the time or
 *         adm_doorbell_ring() ended the sleep
 */
uint32_t adm_doorbell_wait(adm_child_t *child, adm_until_t until, void *data,
                           uint32_t *slots, uint32_t max);

/** Make adm_doorbell_wait() of this child return. One system call. */
void adm_doorbell_ring(adm_child_t *child);

#endif
