/* adm/child.h - a child process, its workers, and the rounds of all.
 * Included by adm.h. Include adm.h, not this file.
 */
#ifndef ADM_PUBLIC_CHILD_H
#define ADM_PUBLIC_CHILD_H

#include "base.h"

/* ---- children -------------------------------------------------------------- */

/**
 * Register the calling process. Reclaims permits of dead children, unless the
 * agent is at work.
 *
 * Call it in the main thread of a new child. The thread must live as long as
 * the process: when it exits, other processes treat the child as dead.
 *
 * @return APR_SUCCESS, ADM_NO_CHILD, or ADM_BAD_SEGMENT if the segment's header
 *         is not what this code wrote
 */
apr_status_t adm_child_register(adm_child_t **child, adm_segment_t *segment,
                                uint32_t generation, apr_pool_t *pool);

/** End all waits of this child with ADM_STOPPED, now and later.
 *  Async-signal-safe. */
void adm_child_stop(adm_child_t *child);

/** @return whether adm_child_stop() was called. */
bool adm_child_is_stopping(const adm_child_t *child);

/** @return whether the caller is the registered process, and not a fork of it.
 *  No system call. */
bool adm_child_is_self(const adm_child_t *child);

/** Report whether the child has an idle worker, which a parked ticket needs to
 *  start. A hint: while the child has none, other children's tickets are
 *  granted first. */
void adm_child_note_room(adm_child_t *child, bool has_idle_worker);

/**
 * Note that a child process has ended, and wake the agent. Takes no lock.
 *
 * Only for the parent. A PID that is not registered is ignored.
 */
void adm_child_ended(adm_segment_t *segment, pid_t pid);

/* ---- rounds, and the agent that makes them --------------------------------- */

/** @return whether the agent is at work: its heartbeat is at most 3 s old. If
 *  not, children make rounds themselves. One atomic load. */
bool adm_agent_is_at_work(const adm_segment_t *segment, adm_usec_t now);

/** Note that there is no agent. For the agent when it ends, and for the parent
 *  when it finds the agent dead. Takes no lock, reads nothing.
 *  Async-signal-safe. */
void adm_agent_gone(adm_segment_t *segment);

/** Make the agent start a round now. Any process; takes no lock, relies on
 *  nothing that it reads. One system call, or two. Async-signal-safe. */
void adm_agent_wake(adm_segment_t *segment);

/** Create the descriptors that wake an agent while it polls; later processes
 *  inherit them. Only for the parent. @return APR_SUCCESS or the system's
 *  reason. */
apr_status_t adm_agent_open_event(adm_segment_t *segment);

/**
 * Make a round: reap dead children, free the permits of programs that have
 * ended, grant the permits of raised limits.
 *
 * Inexpensive if there is nothing to do. A full round is made if a death was
 * announced, if the last one is a second old, or if @a by_force is true. Makes
 * system calls only for orphaned programs. Hold no lock. Waits briefly for
 * zones whose lock is held, once per round; these are visited a slice later.
 *
 * @return the number of tickets of dead children that were reclaimed
 */
uint32_t adm_round(adm_child_t *child, adm_usec_t now, bool by_force);

/** Make a round, not by force, unless the agent is at work: then this is one
 *  atomic load. For children. */
uint32_t adm_round_help(adm_child_t *child, adm_usec_t now);

/** Make a full round before statistics are shown, at most once in 100 ms across
 *  all children. Does nothing while the agent is at work. */
uint32_t adm_round_to_show(adm_child_t *child, adm_usec_t now);

/** @return the latest time for this process's next round. */
adm_usec_t adm_round_next(const adm_child_t *child);

/**
 * Pass on the unused permits of this zone: their lease has expired, or their
 * child has no idle worker. Takes the zone's lock only if there might be some.
 *
 * @return when to check again; 0: there is nothing to wait for
 */
adm_usec_t adm_lease_check(adm_child_t *child, adm_zone_t zone, adm_usec_t now);

/* ---- workers and connections that requests occupy -------------------------- */

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

/** While parked requests lack workers, and the child blocks more workers than
 *  its limit, as many waiting requests must give up theirs. @return whether the
 *  caller, which waits on a thread, is one of these and must cancel its ticket.
 *  No lock. */
bool adm_worker_claim_yield(adm_child_t *child);

/** Set budgets of connections, for an MPM that accepts fewer connections the
 *  more of its threads are busy. A parked request takes one connection, a
 *  worker that runs or blocks takes @a per_worker. A request can wait as long
 *  as this child takes at most @a budget connections, or all children of its
 *  generation take at most @a server_budget. Unlimited by default. */
void adm_worker_limit_connections(adm_child_t *child, uint32_t budget,
                                  uint32_t server_budget, uint32_t per_worker);

/** Note that this child accepts no more connections, so that it need not leave
 *  connections or workers for them. No lock. */
void adm_worker_accept_no_more(adm_child_t *child);

/** @return whether one more request can be parked in this child. Checks the
 *  other children only if this child has used up its budget. No lock. */
bool adm_worker_has_room(const adm_child_t *child);

/**
 * Occupy a worker for several requests that run or wait on threads of their
 * own, as on one HTTP/2 connection. The first request calls this before it
 * enters a zone, the last one adm_worker_vacate() after it has left. The worker
 * counts as blocked, because its requests can wait for permits. No lock.
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
 *  transfer takes one connection, as a parked request does. @return whether a
 *  connection is left for it; if not, nothing has changed. */
bool adm_worker_begin_transfer(adm_child_t *child);

/** End a transfer. Does nothing in a fork of the child. */
void adm_worker_end_transfer(adm_child_t *child);

#endif
