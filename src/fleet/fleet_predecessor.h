/* fleet_predecessor.h - whose share of a limit over servers this one takes over. */
#ifndef FLEET_PREDECESSOR_H
#define FLEET_PREDECESSOR_H

#include <httpd.h>

#include "fleet_view.h"

/** @return who this server is for the engine, in this process and those that it forks. */
adm_fleet_self_t *admission_predecessor_self(apr_pool_t *p);

/** Find out whether all of the server that ran here before have ended, and whose name it
 *  had for the engine; leave this one's name for the next. The parent, at each load; what
 *  is found stays. */
void admission_predecessor_find(apr_pool_t *p, server_rec *s,
                                adm_segment_t *segment);

/** Open the file that has this server's name, for the agent alone: no other process may
 *  write it, and the agent runs as another user than the parent.
 *
 * @return the descriptor; -1: errno has the reason. */
int admission_predecessor_open(apr_pool_t *p);

#endif
