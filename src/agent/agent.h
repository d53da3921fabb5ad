/* agent.h - one process makes the rounds of the whole server.
 * Called by src/httpd in a process that the parent forked for it.
 *
 * It serves nobody: it sleeps, and at most once a second, or when it is woken,
 * does what its duties ask for; 20 times a second while a zone whose limit finds
 * itself runs anything. It may be killed at any moment, as a child may.
 */
#ifndef AGENT_H
#define AGENT_H

#include "agent_duty.h"

/** Become the agent: a name of its own, and no signal handlers of httpd. The very
 *  first call of the new process, which is a fork of the parent. */
void agent_begin(adm_segment_t *segment);

/** Keep the agent's memory from being swapped: what has to act while memory is
 *  short must not wait for it. Needs the parent's privileges.
 *  @return APR_SUCCESS or the system's reason. */
apr_status_t agent_lock_memory(void);

/**
 * Work until the process is told to end (SIGTERM, SIGHUP, SIGINT) or @a parent has
 * ended. Blocks. The process must run as the children do: it takes locks in the
 * segment. It must not have another thread. Tasks are done in the order of the list.
 *
 * @return APR_SUCCESS, or why it cannot be registered in the segment.
 */
apr_status_t agent_run(adm_segment_t *segment, pid_t parent,
                       const agent_task_t *tasks, apr_pool_t *pool);

#endif
