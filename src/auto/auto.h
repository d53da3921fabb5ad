/* auto.h - limits that find themselves: what the agent is told of
 * them, and what it says.
 */
#ifndef MOD_ADMISSION_AUTO_H
#define MOD_ADMISSION_AUTO_H

#include <httpd.h>

#include "auto_duty.h"

/** @return what an agent of this configuration is to do, in @a p. */
agent_tune_setup_t *admission_auto_setup(apr_pool_t *p, server_rec *s);

/** In the parent, around the fork of an agent: only that has the file of what is
 *  kept. */
void admission_auto_open(apr_pool_t *p, server_rec *s,
                         agent_tune_setup_t *setup);

void admission_auto_close(agent_tune_setup_t *setup);

/** In the process of the agent, before it drops the parent's privileges. */
void admission_auto_begin(server_rec *s, const agent_tune_setup_t *setup);

#endif
