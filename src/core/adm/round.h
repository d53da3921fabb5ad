/* adm/round.h - periodic rounds, and the agent that makes them.
 * Included by adm.h, which is what others include.
 */
#ifndef ADM_PUBLIC_ROUND_H
#define ADM_PUBLIC_ROUND_H

#include "base.h"

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

/** Create the pipe that wakes an agent while it polls; later processes inherit
 *  it. Only for the parent. @return APR_SUCCESS or the system's reason. */
apr_status_t adm_agent_open_pipe(adm_segment_t *segment);

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

#endif
