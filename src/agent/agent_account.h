/* agent_account.h - the duty of the agent that samples what programs take.
 * Called by agent.
 */
#ifndef AGENT_ACCOUNT_H
#define AGENT_ACCOUNT_H

#include "agent_duty.h"

/** Samples the programs that run and the memory that is available. Has no setup. */
extern const agent_duty_t agent_account_duty;

#endif
