/* wait.h - how a wait ends, parked or blocked, and the blocked way to wait. */
#ifndef MODULE_WAIT_H
#define MODULE_WAIT_H

#include "visit.h"

/** @return whether the request is still processed after its client has closed
 *  the sending side: the client might half-close its connection and read on, or
 *  is a local application that sent a POST request for its effect only. A reset
 *  always ends the request. Not for HTTP/2 streams. */
bool admission_wait_ignores_end(const request_rec *r);

/** @return whether the request is served even after a reset by its client. */
bool admission_wait_ignores_reset(const request_rec *r);

/** @return whether the client has disconnected. */
bool admission_wait_client_has_gone(const request_rec *r);

/**
 * Check whether the wait of a queued ticket has ended: it was granted, its
 * time is over, the client has disconnected, or this child stops. One poll(),
 * no blocking.
 *
 * @return ADM_WAITING: not yet. ADM_WAITED: the ticket holds its permit. All
 *         others: the ticket has ended.
 */
adm_outcome_t admission_wait_outcome(request_rec *r, adm_ticket_t *ticket,
                                     adm_usec_t deadline);

/** Record the decision about a request that has waited since @a began. */
void admission_wait_end(request_rec *r, adm_outcome_t outcome,
                        adm_usec_t began);

/** Wait for the permit on the calling thread, which stays occupied. @return how
 *  the wait ended, see admission_wait_outcome(); never ADM_WAITING. */
adm_outcome_t admission_block(request_rec *r, adm_ticket_t *ticket,
                              adm_usec_t deadline);

#endif
