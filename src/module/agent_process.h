/* agent_process.h - the process that makes the rounds of the server. */
#ifndef MODULE_AGENT_PROCESS_H
#define MODULE_AGENT_PROCESS_H

#include <httpd.h>

/** Start the agent of this configuration, which ends with it. Needs the segment. */
int admission_agent_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                apr_pool_t *ptemp, server_rec *s);

/** Start it again, if it has ended and was not started just now. The parent, every
 *  few seconds. */
int admission_agent_monitor(apr_pool_t *p, server_rec *s);

#endif
