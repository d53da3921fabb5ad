/* adm_agent.h - whether the agent is at work, and how to wake it.
 * Called by adm_round, adm_ticket, adm_child, adm_program, adm_segment and
 * src/agent.
 *
 * The agent makes the rounds for the whole server. No function here takes a
 * lock; all except adm_agent_sleep() are async-signal-safe. adm_agent_wake()
 * and adm_agent_gone() are in adm/round.h.
 */
#ifndef ADM_AGENT_H
#define ADM_AGENT_H

#include "adm_layout.h"

/** Record a heartbeat of the agent. */
void adm_agent_beat(adm_segment_t *segment, adm_usec_t now);

/** @return how often the agent has been woken. Read this before checking
 *  whether to sleep. */
unsigned adm_agent_calls(const adm_segment_t *segment);

/** Sleep until @a until, unless the agent has been woken since
 *  adm_agent_calls() returned @a calls. Blocks; may return early. */
void adm_agent_sleep(adm_segment_t *segment, unsigned calls, adm_usec_t until);

/**
 * Start a wait for other descriptors, too, instead of adm_agent_sleep().
 *
 * @return a descriptor that becomes readable when the agent is woken; -1: do
 *         not wait, the agent has been woken since adm_agent_calls() returned
 *         @a calls
 */
int adm_agent_begin_poll(adm_segment_t *segment, unsigned calls);

/** End that wait, and empty the pipe. */
void adm_agent_end_poll(adm_segment_t *segment);

#endif
