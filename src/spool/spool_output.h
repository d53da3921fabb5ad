/* spool_output.h - answers that their clients read slowly.
 *
 * An output filter of each request that holds a permit. It passes on at once what
 * the client takes, and keeps what it does not, so that the program never waits for
 * its client. When the program has written everything its permit comes back.
 */
#ifndef SPOOL_OUTPUT_H
#define SPOOL_OUTPUT_H

#include "module/visit.h"

typedef struct admission_spool_t admission_spool_t;

void admission_spool_register_filter(void);

/** The handlers are about to run with this visit's permit. @return NULL: nothing of
 *  this request's answer is kept. */
admission_spool_t *admission_spool_begin(request_rec *r,
                                         admission_visit_t *visit);

/**
 * The handlers have returned @a rv.
 *
 * @return whether something is kept that needs no worker to be sent: then push
 *         until nothing is left, and close.
 */
bool admission_spool_end(admission_spool_t *spool, int rv);

request_rec *admission_spool_request(const admission_spool_t *spool);
adm_ticket_t *admission_spool_ticket(const admission_spool_t *spool);

/** Send what the client takes without waiting for it. Nothing is added any more.
 *  @return APR_EAGAIN: there is more. */
apr_status_t admission_spool_push(admission_spool_t *spool);

/** Send what is left, which may block, and tell the filters that this is the end. */
void admission_spool_close(admission_spool_t *spool);

#endif
