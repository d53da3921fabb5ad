/* park.h - wait for a permit without a worker (event MPM). */
#ifndef PARK_H
#define PARK_H

#include "module/visit.h"

/**
 * Park a queued request: everything that can fail before it waits is done here.
 * @param deadline  end of the wait in the queue
 * @return SUSPENDED, which the handler must return; or DECLINED if the request
 *         cannot be parked and must wait with its worker.
 */
int admission_park(request_rec *r, admission_visit_t *visit,
                   adm_usec_t deadline);

/** httpd's hooks of a connection: continue its waiting request when it has a
 *  worker again, and give up its worker or get one back meanwhile. See the
 *  sequence in park.c. */
int admission_park_process(conn_rec *c);
void admission_park_suspend(conn_rec *c, request_rec *r);
void admission_park_resume(conn_rec *c, request_rec *r);

/** Open the parking lot of this child, if its requests park. Without a lot
 *  (ADM0304), requests wait with their workers. */
void admission_park_child_start(apr_pool_t *pchild, server_rec *s);

#endif
