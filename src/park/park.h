/* park.h - wait without a worker. */
#ifndef PARK_H
#define PARK_H

#include "park_resume.h"
#include "module/visit.h"

/** Prepare the wait without a worker. @return SUSPENDED, for the handler to
 *  return, or DECLINED when it cannot be done and the ticket must block. */
int admission_park(request_rec *r, admission_visit_t *visit,
                   adm_usec_t deadline);

/** See the picture in park.c: what is parked here, if anything, leaves its
 *  worker, or has one again. */
void admission_park_suspend(conn_rec *c);
void admission_park_resume(conn_rec *c);

/** What became of a request that was parked here. */
admission_went_t admission_park_goes_on(conn_rec *c);

void admission_park_child_init(apr_pool_t *pchild, server_rec *s);

#endif
