/* spool_rest.h - send the rest of a response without a worker (event MPM). */
#ifndef SPOOL_REST_H
#define SPOOL_REST_H

#include "spool_output.h"

/**
 * Send the buffered rest of a response whose handlers have returned, without a
 * worker if possible. Otherwise blocks until it is sent.
 * @return SUSPENDED if the rest is sent later; OK if it is sent.
 */
int spool_rest_send(request_rec *r, spool_t *spool);

#endif
