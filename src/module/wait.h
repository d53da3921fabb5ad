/* wait.h - how a wait ends, with a worker or without. */
#ifndef MODULE_WAIT_H
#define MODULE_WAIT_H

#include "tell.h"
#include "visit.h"

/** @return whether the request remains wanted when its client sends no more: the
 *  client may close its sending side and go on reading, or is an application on this
 *  server that sent a POST request for its effect. A reset always ends it. Not of
 *  HTTP/2 streams. */
bool admission_wait_ignores_end(const request_rec *r);

/** @return whether nobody is there any more to read the answer. */
bool admission_wait_client_has_gone(const request_rec *r);

/**
 * Look whether the wait of a queued ticket has ended: the client has left, it was
 * granted, this child stops, nobody can grant it, or its time is up.
 *
 * @return ADM_WAITING: it has not. Else the ticket has ended, or holds its permit
 *         with ADM_WAITED.
 */
adm_outcome_t admission_wait_outcome(request_rec *r, adm_ticket_t *ticket,
                                     adm_usec_t deadline);

/** The verdict about a request whose wait, since @a began, has ended so. */
void admission_wait_end(request_rec *r, adm_outcome_t outcome, adm_usec_t began,
                        admission_verdict_t *verdict);

#endif
