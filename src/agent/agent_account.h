/* agent_account.h - duty of the agent: sample the programs' resource usage.
 * Called by agent.
 */
#ifndef AGENT_ACCOUNT_H
#define AGENT_ACCOUNT_H

#include "agent_duty.h"

/** Samples the running programs and the available memory, for the status
 *  outputs. Needs no setup. */
extern const agent_duty_t agent_account_duty;

#endif
