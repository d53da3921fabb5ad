/* adm_worker.h - the reserve: limit the workers that zones occupy.
 * Called by adm_ticket.
 *
 * All counts are atomic: no function locks or blocks.
 */
#ifndef ADM_WORKER_H
#define ADM_WORKER_H

#include "adm_layout.h"

/** Take one of the workers that zones may occupy. @a by_force: even if none is
 *  left. @return whether one was taken. */
bool adm_worker_take(adm_child_t *child, bool by_force);

/** Note in the ticket whether connections are left for it to block. Call before
 *  the zone is locked, because it can check all children. */
void adm_worker_check_room(adm_ticket_t *ticket);

/** Count the ticket's thread as blocked. @return ADM_WAITING; ADM_PARKING or
 *  ADM_RESERVE if too many connections or workers of this child are in use,
 *  then nothing has changed. */
adm_outcome_t adm_worker_begin_blocking(adm_ticket_t *ticket);

/** Count the ticket's thread as no longer blocked, if it was. */
void adm_worker_end_blocking(adm_ticket_t *ticket);

/** Take a worker for a ticket that will run or block, if it needs one and has
 *  none. @a by_force: even if none is left. @return false if it lacks one. */
bool adm_worker_take_for(adm_ticket_t *ticket, bool by_force);

/** Return the ticket's worker, if it has one. */
void adm_worker_give_back(adm_ticket_t *ticket);

#endif
