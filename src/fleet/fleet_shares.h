/* fleet_shares.h - limits over servers: what the agent is told of them, and
 * what it says.
 */
#ifndef FLEET_SHARES_H
#define FLEET_SHARES_H

#include <httpd.h>

#include "fleet_duty.h"

/** @return what an agent has to know of the zones that are shared, in @a p; NULL: there
 *  are none, or there is no way to wake an agent that waits for the engine. */
agent_fleet_t *admission_shares_setup(apr_pool_t *p, server_rec *s);

#endif
