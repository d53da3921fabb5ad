/* agent_tune.h - the duty of the agent that sets limits that find themselves.
 * Called by agent.
 */
#ifndef AGENT_TUNE_H
#define AGENT_TUNE_H

#include "agent_sense.h"
#include "agent_setup.h"

/** Begin, with what the agent before this one left of each zone.
 */
void agent_tune_begin(adm_child_t *self, const agent_setup_t *setup,
                      agent_sense_t *sense, apr_pool_t *pool);

/** Look at all zones and set their limits, if it is time for that.
 *  @return when to be called again at the latest. */
adm_usec_t agent_tune(adm_child_t *self, adm_usec_t now, bool is_woken);

/** The agent ends: keep what was found. */
void agent_tune_end(adm_usec_t now);

#endif
