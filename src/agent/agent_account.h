/* agent_account.h - the duty of the agent that looks at what programs take.
 * Called by agent.
 */
#ifndef AGENT_ACCOUNT_H
#define AGENT_ACCOUNT_H

#include "agent_sense.h"
#include "adm.h"

/** Prepare; @a sense is open. */
void agent_account_begin(agent_sense_t *sense);

/** Look at the programs that run and at the memory that is available, if it is time
 *  for that. @return when to be called again at the latest. */
adm_usec_t agent_account(adm_child_t *self, adm_usec_t now, bool is_woken);

#endif
