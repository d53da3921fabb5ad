/* adm/parking.h - parked tickets: waiting without a thread.
 * Included by adm.h, which is what others include.
 */
#ifndef ADM_PUBLIC_PARKING_H
#define ADM_PUBLIC_PARKING_H

#include "ticket.h"

/** A child cannot have more tickets parked at once. */
#define ADM_PARK_SLOTS 16384

/**
 * From now on the grant of this waiting ticket rings the child's doorbell
 * with @a slot (below ADM_PARK_SLOTS) instead of waking a thread.
 */
void adm_ticket_park(adm_ticket_t *ticket, uint32_t slot);

/** The parked ticket goes on in a worker, granted or not. Its slot may ring
 *  once more. */
void adm_ticket_unpark(adm_ticket_t *ticket);

/** @return until when there is nothing to do but for the doorbell. */
typedef adm_usec_t (*adm_until_t)(void *data);

/**
 * Sleep until the doorbell rings, adm_doorbell_ring() or what @a until returns.
 * Blocks the calling thread; one thread a child.
 *
 * @param until  called with @a data right before the sleep, and only then.
 *               Whoever changes what it reads, and rings afterwards, ends the
 *               sleep: no change between the call and the sleep is missed.
 * @param slots  filled with the slots that rang
 * @return how many, at most @a max; 0 when only the time or a ring without
 *         slot ended the wait.
 */
uint32_t adm_doorbell_wait(adm_child_t *child, adm_until_t until, void *data,
                           uint32_t *slots, uint32_t max);

/** Make adm_doorbell_wait() of this child return. */
void adm_doorbell_ring(adm_child_t *child);

#endif
