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

typedef struct spool_t spool_t;

void spool_register_filter(void);

/**
 * Add the filter, before the handlers run with this visit's permit.
 * @return NULL if this request's response is not buffered.
 */
spool_t *spool_begin(request_rec *r, admission_visit_t *visit);

/**
 * The handlers have returned @a rv.
 * @return whether buffered data can be sent without a worker. If so, call
 *         spool_push() until nothing is left, then
 *         spool_close().
 */
bool spool_end(spool_t *spool, int rv);

request_rec *spool_request(const spool_t *spool);
adm_ticket_t *spool_ticket(const spool_t *spool);

/**
 * Send what the client takes without blocking, after the end of the output.
 * @return APR_EAGAIN if more is left.
 */
apr_status_t spool_push(spool_t *spool);

/** Send the rest and the EOS bucket. Might block. */
void spool_close(spool_t *spool);

#endif
