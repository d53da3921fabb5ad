/* adm/worker.h - workers and connections that a child's requests occupy.
 * Included by adm.h, which is what others include.
 */
#ifndef ADM_PUBLIC_WORKER_H
#define ADM_PUBLIC_WORKER_H

#include "base.h"

/** What a request that runs takes from the server's workers. */
typedef enum adm_worker_t {
    ADM_WORKER_NONE, /* none, or one that is counted already */
    ADM_WORKER_ONE,
    ADM_WORKER_DENIED, /* none: adm_worker_occupy() got none */
    ADM_WORKER_NO_ROOM /* none: no connections are left */
} adm_worker_t;

/** Limit the workers of this child that block, or are occupied by
 *  adm_worker_occupy(), while its parked requests lack a worker. A thread that
 *  waits in addition to an occupied worker does not count. Unlimited by
 *  default. */
void adm_worker_limit_blocked(adm_child_t *child, uint32_t max);

/** Note that @a count parked requests of the child hold a permit and have
 *  waited for a worker for long. Only for the dispatcher. No lock. */
void adm_worker_note_lacking(adm_child_t *child, uint32_t count);

/** Claim one of the cancellations that are due while parked requests lack a worker
 *  and the child blocks more than its limit: as many as workers are lacking.
 *  @return whether the caller, which waits on a thread, must cancel its ticket.
 *  No lock. */
bool adm_worker_claim_yield(adm_child_t *child);

/** Set budgets, for a server that accepts fewer connections the more of its
 *  threads are busy. A parked request takes one connection, a worker that runs
 *  or blocks takes @a per_worker. A request can wait while this child takes at
 *  most @a budget, or all children of its generation at most @a server_budget.
 *  Unlimited by default. */
void adm_worker_limit_connections(adm_child_t *child, uint32_t budget,
                                  uint32_t server_budget, uint32_t per_worker);

/** Note that this child accepts no more connections, so that it need not leave
 *  connections or workers for them. No lock. */
void adm_worker_accept_no_more(adm_child_t *child);

/** @return whether one more request can be parked in this child. Iterates over
 *  the children only if this one has used up its own budget. No lock. */
bool adm_worker_has_room(const adm_child_t *child);

/**
 * Occupy a worker for several requests that run or wait on threads of their
 * own, as on one HTTP/2 connection. The first request calls this before it
 * enters a zone, the last one adm_worker_vacate() after it has left. The worker
 * may wait for permits, so it counts as blocked. No lock.
 *
 * @return the `worker` that all these requests enter with. ADM_WORKER_NONE: the
 *         worker is counted. ADM_WORKER_DENIED: the workers left are reserved,
 *         or kept for parked requests of this child. ADM_WORKER_NO_ROOM: the
 *         connections left are kept for others. Only after ADM_WORKER_NONE call
 *         adm_worker_vacate().
 */
adm_worker_t adm_worker_occupy(adm_child_t *child);

/** Return the worker that adm_worker_occupy() counted. Any thread of the
 *  child. */
void adm_worker_vacate(adm_child_t *child);

/** Start to transfer a request's body or response without a worker. The
 *  transfer takes one connection, as a parked request does. @return whether
 *  that is left; if not, nothing has changed. */
bool adm_worker_begin_transfer(adm_child_t *child);

/** End a transfer. Does nothing in a fork of the child. */
void adm_worker_end_transfer(adm_child_t *child);

#endif
