/* agent_fleet.h - the duty of the agent that leases shares of limits over servers.
 * Called by agent.
 */
#ifndef AGENT_FLEET_H
#define AGENT_FLEET_H

#include "agent_setup.h"

/** Begin; nothing is done where no zone is shared. */
void agent_fleet_begin(adm_child_t *self, const agent_setup_t *setup,
                       apr_pool_t *pool);

/** Hear what the engine says, and tell it what is due.
 *  @return when to be called again at the latest, but for what the engine waits
 *  for. */
adm_usec_t agent_fleet(adm_child_t *self, adm_usec_t now, bool is_woken);

/** Sleep until @a until, or until the engine says something, or the agent was woken
 *  since it had been called @a calls times.
 *  @return false where no zone is shared: it has not slept. */
bool agent_fleet_sleep(adm_segment_t *segment, unsigned calls,
                       adm_usec_t until);

/** The agent ends: what is idle is given back. */
void agent_fleet_end(adm_child_t *self);

#endif
