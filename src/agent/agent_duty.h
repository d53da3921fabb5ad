/* agent_duty.h - a periodic task of the agent.
 * Included by agent.h and the header of each duty.
 */
#ifndef AGENT_DUTY_H
#define AGENT_DUTY_H

#include <poll.h>

#include "core/adm.h"

/** Maximum of descriptors of all duties together. */
#define AGENT_DESCRIPTORS 4

/** Functions of a duty, called in the agent's only thread. They must not block
 *  for more than milliseconds: the agent's heartbeat is stored between the
 *  calls. */
typedef struct agent_duty_t {
    /** Prepare. @param setup  of the task */
    void (*begin)(adm_child_t *self, const void *setup, apr_pool_t *pool);
    /**
     * Do what is due. Called at most once per tick or wake-up.
     * @return when to call again at the latest.
     */
    adm_usec_t (*run)(adm_child_t *self, adm_usec_t now, bool is_woken);
    /**
     * Add descriptors to poll, and lower @a until if needed. NULL: none.
     * @return the number of descriptors, at most AGENT_DESCRIPTORS.
     */
    unsigned (*prepare_poll)(struct pollfd *descriptors, adm_usec_t *until);
    /** Store or return the duty's data when the agent ends. NULL: none. */
    void (*end)(adm_child_t *self, adm_usec_t now);
} agent_duty_t;

/** A duty, and its data from before the fork. */
typedef struct agent_task_t {
    const agent_duty_t *duty; /* NULL ends a list */
    const void *setup;
} agent_task_t;

#endif
