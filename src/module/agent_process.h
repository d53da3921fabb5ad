/* agent_process.h - start admission-agent, the background process that reclaims
 * permits.
 */
#ifndef MODULE_AGENT_PROCESS_H
#define MODULE_AGENT_PROCESS_H

#include <httpd.h>

/** Start the agent, which runs until the configuration is unloaded. Does
 *  nothing without a segment or zones. */
int admission_agent_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                apr_pool_t *ptemp, server_rec *s);

/** The hook monitor, which the parent calls every few seconds: restart an agent
 *  that has exited, but not twice within a second. */
int admission_agent_monitor(apr_pool_t *p, server_rec *s);

#endif
