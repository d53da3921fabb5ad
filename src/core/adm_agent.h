/* adm_agent.h - whether the agent is at work, and what wakes it.
 * Called by adm_round, adm_ticket, adm_child, adm_program, adm_segment and
 * src/agent.
 *
 * The agent makes the rounds of the whole server. No function here takes a
 * lock; all but adm_agent_sleep() are async-signal-safe. Wake and gone are in
 * adm.h.
 */
#ifndef ADM_AGENT_H
#define ADM_AGENT_H

#include "adm_layout.h"

/** The agent is at work, at this time. */
void adm_agent_beat(adm_segment_t *segment, adm_usec_t now);

/** @return how often the agent was woken. Read it before what decides whether
 *  to sleep. */
unsigned adm_agent_calls(const adm_segment_t *segment);

/** Sleep until @a until, unless the agent was woken since it had been called
 *  @a calls times. Blocks; may return early. */
void adm_agent_sleep(adm_segment_t *segment, unsigned calls, adm_usec_t until);

/**
 * For an agent that waits for descriptors, too: instead of adm_agent_sleep().
 *
 * @return a descriptor that can be read when the agent is woken; -1: it was woken
 *         since it had been called @a calls times, so do not wait.
 */
int adm_agent_begin_poll(adm_segment_t *segment, unsigned calls);

/** The wait is over. One system call. */
void adm_agent_end_poll(adm_segment_t *segment);

#endif
