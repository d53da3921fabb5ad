/* mod_admission_park.h - wait without a worker. */
#ifndef MOD_ADMISSION_PARK_H
#define MOD_ADMISSION_PARK_H

#include "request/mod_admission_visit.h"

/** @return whether this request may: if not, it blocks. */
bool admission_park_is_possible(request_rec *r);

/** Prepare the wait without a worker. @return SUSPENDED, for the handler to
 *  return, or DECLINED when it cannot be done and the ticket must block. */
int admission_park(request_rec *r, admission_visit_t *visit,
                   adm_usec_t deadline);

/** httpd's hooks: see the picture in mod_admission_park.c. */
int admission_park_process_connection(conn_rec *c);
void admission_park_suspend_connection(conn_rec *c, request_rec *r);
void admission_park_resume_connection(conn_rec *c, request_rec *r);
void admission_park_child_init(apr_pool_t *pchild, server_rec *s);

#endif
