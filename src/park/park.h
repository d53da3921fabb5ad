/* park.h - wait for a permit without a worker (event MPM). */
#ifndef PARK_H
#define PARK_H

#include "park_resume.h"
#include "module/visit.h"

/**
 * Park a queued request: everything that can fail before it waits is done here.
 * @param deadline  end of the wait in the queue
 * @return SUSPENDED, which the handler must return; or DECLINED if the request
 *         cannot be parked and must wait with its worker.
 */
int admission_park(request_rec *r, admission_visit_t *visit,
                   adm_usec_t deadline);

/** The suspend and resume hooks of a connection: its parked request, if it
 *  has one, gives up its worker, or has a worker again. See the sequence in
 *  park.c. */
void admission_park_suspend(conn_rec *c);
void admission_park_resume(conn_rec *c);

/**
 * Continue the parked request of a connection that has a worker again: run its
 * handler, reject it, or park it once more.
 * @return what became of the request. After ADMISSION_CONTINUED, the connection
 *         might no longer exist.
 */
admission_continued_t admission_park_continue(conn_rec *c);

/** Open the parking lot of this child, if its requests park. Without a lot
 *  (ADM0304), requests wait with their workers. */
void admission_park_child_start(apr_pool_t *pchild, server_rec *s);

#endif
