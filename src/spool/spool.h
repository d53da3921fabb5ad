/* spool.h - the filters of AdmissionSpool, and its steps of a request. */
#ifndef SPOOL_H
#define SPOOL_H

#include "module/visit.h"
#include "spool_drain.h"

/* ---- spool_body.c: request bodies that clients send slowly -------------------
 *
 * The body is read before its request enters the zone, and the handler reads it
 * from the buffer. On the event MPM, no worker waits for the body.
 */

void spool_body_register(void);

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

/* ---- spool_output.c: responses that clients read slowly ----------------------
 *
 * An output filter of each request that holds a permit. It passes on
 * immediately what the client takes and buffers the rest, so that the program
 * never waits for its client. At the end of the program's output, the permit is
 * released.
 */

void spool_output_register(void);

/**
 * Add the filter, before the handlers run with this visit's permit.
 * @return NULL if this request's response is not buffered.
 */
void *spool_begin(request_rec *r, admission_visit_t *visit);

/**
 * The handlers have returned @a rv.
 * @return whether buffered data can be sent without a worker. If so, call
 *         spool_rest().
 */
bool spool_end(void *begun, int rv);

/**
 * Send the buffered rest of a response, without a worker if possible. Otherwise
 * blocks until it is sent.
 * @return SUSPENDED if the rest is sent later; OK if it is sent.
 */
int spool_rest(request_rec *r, void *begun);

/* ---- spool_backend.c: buffered output is sent while a backend is silent --------
 *
 * mod_proxy_http reads from its backend on the request's thread, and inserts a
 * FLUSH bucket before it waits. An input filter of the backend connection
 * notices the wait, and sends the client its buffered output meanwhile.
 */

void spool_backend_register(void);

/**
 * Set the response to which this thread's handlers write, before they run.
 * @return the response of an outer request, for spool_backend_end().
 */
admission_drain_t *spool_backend_begin(admission_drain_t *drain);

/** Restore the outer response, after the handlers have returned. */
void spool_backend_end(admission_drain_t *outer);

#endif
