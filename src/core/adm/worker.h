/* adm/worker.h - workers that the requests of a child hold.
 * Included by adm.h, which is what others include.
 */
#ifndef ADM_PUBLIC_WORKER_H
#define ADM_PUBLIC_WORKER_H

#include "base.h"

/** What running takes of the server's workers. */
typedef enum adm_worker_t {
    ADM_WORKER_NONE, /* or one that is counted already */
    ADM_WORKER_ONE,
    ADM_WORKER_DENIED, /* none, and the caller knows that it may have none */
    ADM_WORKER_NO_ROOM /* none: no connections are left for it */
} adm_worker_t;

/** While parked requests of the child lack a worker, at most this many of its
 *  workers may block at once or be occupied by adm_worker_occupy(). A thread that
 *  waits beside one of those does not count. Unlimited unless set. */
void adm_worker_limit_blocked(adm_child_t *child, uint32_t max);

/** So many parked requests of the child hold a permit, and no worker has come for
 *  any of them for long. The dispatcher says so. No lock. */
void adm_worker_lack(adm_child_t *child, uint32_t count);

/** @return whether the caller, who waits on a thread, has to cancel its ticket
 *  because the child blocks more workers than it may and one is lacking. True for
 *  as many as are lacking. No lock. */
bool adm_worker_must_yield(adm_child_t *child);

/** For a server that accepts fewer connections the more of its threads are busy:
 *  one for each parked request, and @a per_worker for each worker held, running
 *  or blocked. A request finds room to wait while this child takes no more than
 *  @a budget, or all children of its generation no more than @a server_budget.
 *  Unlimited unless set. */
void adm_worker_limit_connections(adm_child_t *child, uint32_t budget,
                                  uint32_t server_budget, uint32_t per_worker);

/** This child accepts no more connections: neither room nor workers need be left for
 *  them. No lock. */
void adm_worker_accept_no_more(adm_child_t *child);

/** @return whether one more request may be parked in this child. Looks at the
 *  other children only when this one has used its own budget. No lock. */
bool adm_worker_has_room(const adm_child_t *child);

/**
 * A worker is occupied for as long as any of several requests runs or waits, each
 * on a thread of its own: those of one HTTP/2 connection. The first of them calls
 * this before it enters, the last one adm_worker_vacate() when it has left. The
 * worker may have to wait for permits, so it counts as one that blocks. No lock.
 *
 * @return what each of these requests enters with: ADM_WORKER_NONE, the worker is
 *         counted; ADM_WORKER_DENIED, the workers left are reserved, or those of
 *         this child for parked requests; or ADM_WORKER_NO_ROOM, the connections
 *         left are kept for others. Only the first one is to be vacated.
 */
adm_worker_t adm_worker_occupy(adm_child_t *child);

/** The worker that adm_worker_occupy() counted is free. Any thread of the child. */
void adm_worker_vacate(adm_child_t *child);

/** A request's body or answer is transferred without a worker from now on: it
 *  takes a connection as a parked request does, adm_worker_limit_connections().
 *  @return whether there is room for it; if not, nothing has changed. */
bool adm_worker_begin_transfer(adm_child_t *child);

/** The transfer has ended. */
void adm_worker_end_transfer(adm_child_t *child);

#endif
