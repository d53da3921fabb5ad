/* spool_body.h - bodies of requests that their clients send slowly.
 *
 * A body is read before its request asks for a permit, and kept; the handler reads
 * it from there. On the event MPM no worker waits for it.
 */
#ifndef SPOOL_BODY_H
#define SPOOL_BODY_H

#include "module/visit.h"

void spool_body_register_filter(void);

/** The hook insert_filter: a redirected request has what was read before. */
void spool_body_insert_filter(request_rec *r);

/**
 * Read the body of a request that is about to ask the zone, as far as
 * AdmissionSpool allows. Nothing is read if the request would be rejected now.
 *
 * @param again  the handler hook, which is called once more when the body has come
 * @return OK: go on; SUSPENDED: @a again is called later; or the status of an error.
 */
int spool_body_read(request_rec *r, const admission_dir_conf_t *conf,
                    int (*again)(request_rec *r));

#endif
