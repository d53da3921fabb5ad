/* adm/round.h - who makes the rounds, and when.
 * Included by adm.h, which is what others include.
 */
#ifndef ADM_PUBLIC_ROUND_H
#define ADM_PUBLIC_ROUND_H

#include "base.h"

/** @return whether the agent is at work: it was within the last 3 s. If not,
 *  children make rounds themselves. One atomic load. */
bool adm_agent_is_at_work(const adm_segment_t *segment, adm_usec_t now);

/** There is no agent from now on. The agent at its end, or the parent when it
 *  finds it dead. Takes no lock, reads nothing. Async-signal-safe. */
void adm_agent_gone(adm_segment_t *segment);

/** Have the agent make a round now. Any process; takes no lock, reads nothing
 *  that matters. One system call. Async-signal-safe. */
void adm_agent_wake(adm_segment_t *segment);

/** Have a pipe by which an agent that polls is woken, inherited by all later
 *  processes. The parent. @return APR_SUCCESS or the system's reason. */
apr_status_t adm_agent_open_pipe(adm_segment_t *segment);

/**
 * Look around: mark and reap dead children, free the permits of programs that
 * have ended, hand out what a raised limit allows.
 *
 * Cheap when there is nothing to do; the full round is made when a death was
 * announced, when the last is a second old, or when @a by_force is true.
 * System calls only for orphaned programs. Hold no lock. Waits briefly, and once
 * a round, for zones whose lock is held; those are visited a slice later.
 *
 * @return how many tickets of dead children were taken back.
 */
uint32_t adm_round(adm_child_t *child, adm_usec_t now, bool by_force);

/** The same, not by force, unless the agent is at work: then one atomic load. What
 *  children call. */
uint32_t adm_round_help(adm_child_t *child, adm_usec_t now);

/** The same before figures are shown: a full round, but one in 100 ms at most
 *  over all children, however many look. None while the agent is at work. */
uint32_t adm_round_to_show(adm_child_t *child, adm_usec_t now);

/** @return when this process has to make its next round at the latest. */
adm_usec_t adm_round_next(const adm_child_t *child);

/**
 * Pass on what was handed over in this zone and is not used: when the lease is
 * over, or its child has no room. Takes the zone's lock only if there may be some.
 *
 * @return when to look again; 0: nothing is waited for.
 */
adm_usec_t adm_lease_look(adm_child_t *child, adm_zone_t zone, adm_usec_t now);

#endif
