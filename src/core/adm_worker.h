/* adm_worker.h - the reserve: how many workers zones may occupy.
 * Called by adm_ticket.
 *
 * Atomic counts: no lock is needed, and none of this blocks.
 */
#ifndef ADM_WORKER_H
#define ADM_WORKER_H

#include "adm_layout.h"

/** Take one of the workers that zones may occupy. @return whether there was
 *  one. @a by_force: take it in any case. */
bool adm_worker_take(adm_child_t *child, bool by_force);

/** Give back a worker that adm_worker_take() gave. */
void adm_worker_return(adm_child_t *child);

/** Note in the ticket whether a blocked one finds room. Before the zone is locked:
 *  it may look at all children. */
void adm_worker_look_for_room(adm_ticket_t *ticket);

/** The ticket's thread is about to wait. @return ADM_WAITING; or ADM_PARKING or
 *  ADM_RESERVE if too many connections or threads of this child wait already:
 *  then nothing has changed. */
adm_outcome_t adm_worker_begin_blocking(adm_ticket_t *ticket);

/** It waits no longer. Does nothing for a ticket that did not. */
void adm_worker_end_blocking(adm_ticket_t *ticket);

/** The ticket keeps its worker: it runs, or blocks. */
void adm_worker_settle(adm_ticket_t *ticket);

/** Return the ticket's worker, if it has one. */
void adm_worker_give_back(adm_ticket_t *ticket);

/** The ticket takes a worker, whatever is left, if it needs and lacks one. */
void adm_worker_force(adm_ticket_t *ticket);

#endif
