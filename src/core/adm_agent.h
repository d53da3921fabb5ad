/* adm_agent.h - whether the agent is at work, and how to wake it.
 * Called by adm_round, adm_ticket, adm_child, adm_program, adm_segment and
 * src/agent.
 *
 * The agent makes the rounds for the whole server. No function here takes a
 * lock; all except adm_agent_sleep() are async-signal-safe. adm_agent_wake()
 * and adm_agent_gone() are in adm/child.h.
 */
#ifndef ADM_AGENT_H
#define ADM_AGENT_H

#include "adm_layout.h"

/** Record a heartbeat of the agent. */
void adm_agent_beat(adm_segment_t *segment, adm_usec_t now);

/** @return the number of wake-ups so far. Read it before checking whether there
 *  is work: a later wake-up then ends the sleep that follows. */
unsigned adm_agent_wakes(const adm_segment_t *segment);

/** Sleep until @a until, unless the agent has been woken since
 *  adm_agent_wakes() returned @a wakes. Blocks; can return early. */
void adm_agent_sleep(adm_segment_t *segment, unsigned wakes, adm_usec_t until);

/**
 * Prepare to wait for wake-ups together with other descriptors, with poll()
 * instead of adm_agent_sleep(). Call adm_agent_end_poll() afterwards. Does not
 * block.
 *
 * @return a descriptor to poll with the others, readable when the agent is
 *         woken; -1: do not poll, because the agent has been woken since
 *         adm_agent_wakes() returned @a wakes
 */
int adm_agent_begin_poll(adm_segment_t *segment, unsigned wakes);

/** Undo adm_agent_begin_poll(), and clear the event. */
void adm_agent_end_poll(adm_segment_t *segment);

#endif
