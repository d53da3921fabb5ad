/* agent_duty.h - what a capability has the agent do.
 * Included by agent.h and the header of each duty.
 */
#ifndef AGENT_DUTY_H
#define AGENT_DUTY_H

#include <poll.h>

#include "core/adm.h"
#include "agent_sense.h"

/** Descriptors that all duties together wait for, at most. */
#define AGENT_DESCRIPTORS 4

/** Called in the one thread of the agent. Nothing here blocks for more than
 *  milliseconds: the beat is stored between calls. */
typedef struct agent_duty_t {
    /** Prepare. @a setup: of the task; @a sense is open. */
    void (*begin)(adm_child_t *self, const void *setup, agent_sense_t *sense,
                  apr_pool_t *pool);
    /** Do what is due. Called at most once per tick or wake-up.
     *  @return when to be called again at the latest. */
    adm_usec_t (*look)(adm_child_t *self, adm_usec_t now, bool is_woken);
    /** Fill in what to wait for as well, and lower @a until if needed. NULL: nothing.
     *  @return how many descriptors, of AGENT_DESCRIPTORS. */
    unsigned (*wait_for)(struct pollfd *descriptors, adm_usec_t *until);
    /** The agent ends: store or return what it has. NULL: nothing. */
    void (*end)(adm_child_t *self, adm_usec_t now);
} agent_duty_t;

/** A duty, and what was prepared for it before the fork. */
typedef struct agent_task_t {
    const agent_duty_t *duty; /* NULL: the end of a list */
    const void *setup;
} agent_task_t;

#endif
