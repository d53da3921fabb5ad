/* spool_body.h - buffer request bodies that clients send slowly.
 *
 * The body is read before its request enters the zone, and the handler reads it
 * from the buffer. On the event MPM, no worker waits for the body.
 */
#ifndef SPOOL_BODY_H
#define SPOOL_BODY_H

#include "module/visit.h"

void spool_body_register_filter(void);

/** The insert_filter hook: a redirected request gets the body that was read
 *  before the redirect. */
void spool_body_insert_filter(request_rec *r);

/**
 * Buffer the body of a request that is about to enter its zone, up to the size
 * set by AdmissionSpool. Reads nothing if the request would be rejected now.
 * Blocks if the request cannot be suspended.
 * @param again  the handler hook, called again when the body has arrived
 * @return OK: continue; SUSPENDED: @a again is called later; an HTTP status if
 *         the body cannot be read.
 */
int spool_body_read(request_rec *r, const admission_dir_conf_t *conf,
                    int (*again)(request_rec *r));

#endif
