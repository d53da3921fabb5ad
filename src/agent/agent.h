/* agent.h - the agent: one background process per server, which reclaims the
 * permits of dead children and does further periodic duties.
 * Called by src/module in a process that the parent forked for it.
 *
 * The agent serves no requests. It sleeps, and does its duties once per second
 * or when it is woken; 20 times per second while a zone with an automatic limit
 * runs requests. It can be killed at any moment, as a child can.
 */
#ifndef AGENT_H
#define AGENT_H

#include "agent_duty.h"

/** Become the agent: set the process name, and replace httpd's signal handlers.
 *  The first call of the new process, a fork of the parent. */
void agent_begin(adm_segment_t *segment);

/**
 * Lock the agent's memory, so that it can act while the machine swaps. Needs
 * the parent's privileges.
 * @return APR_SUCCESS, or the system error.
 */
apr_status_t agent_lock_memory(void);

/**
 * Do the duties until the process is told to end (SIGTERM, SIGHUP, SIGINT) or
 * @a parent has ended. Blocks.
 *
 * The process must have one thread, and must run as the same user as the
 * children, because it takes locks in the segment.
 * @param tasks  done in this order
 * @return APR_SUCCESS, or why the agent cannot be registered in the segment.
 */
apr_status_t agent_run(adm_segment_t *segment, pid_t parent,
                       const agent_task_t *tasks, apr_pool_t *pool);

#endif
