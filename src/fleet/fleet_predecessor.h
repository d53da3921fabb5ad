/* fleet_predecessor.h - takes over the share of the server that ran here before.
 * Called by fleet. */
#ifndef FLEET_PREDECESSOR_H
#define FLEET_PREDECESSOR_H

#include <httpd.h>

#include "fleet_view.h"

/** @return this server's identity. One object per parent, retained across restarts
 *  as long as the segment. */
fleet_self_t *admission_predecessor_self(apr_pool_t *p);

/** Read the predecessor's id if all its processes and programs have ended, and store
 *  this server's id for its successor. Called in the parent at each load; only the
 *  first call acts. Logs failures; never blocks. */
void admission_predecessor_find(apr_pool_t *p, server_rec *s,
                                adm_segment_t *segment);

/** Open the file with this server's id for the agent, which runs as another user and
 *  could not open it. No other process may get the descriptor.
 *
 * @return the descriptor, or -1 and errno. */
int admission_predecessor_open(apr_pool_t *p);

#endif
