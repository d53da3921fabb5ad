/* spool_output.h - buffer responses that clients read slowly.
 *
 * An output filter of each request that holds a permit. It passes on
 * immediately what the client takes and buffers the rest, so that the program
 * never waits for its client. At the end of the program's output, the permit is
 * released.
 */
#ifndef SPOOL_OUTPUT_H
#define SPOOL_OUTPUT_H

#include "module/visit.h"

void spool_register_filter(void);

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

#endif
