/* park_resume.h - what httpd does around a handler, for a handler that returned
 * SUSPENDED.
 */
#ifndef PARK_RESUME_H
#define PARK_RESUME_H

#include "park_lot.h"
#include "park_ready.h"

/** @return whether this request's handler can return SUSPENDED: whether the MPM
 *  can wait for its connection. */
static inline bool admission_resume_is_possible(const request_rec *r)
{
    const conn_rec *c = r->connection;

    /* All other requests run below code that cannot be suspended, or on a
     * connection that the MPM does not poll. */
    return c->cs && !c->master && !c->clogging_input_filters && !r->main
           && !r->prev && admission_lot_is_open();
}

/** @return whether a request of this connection is about to wait without a
 *  worker, for its permit or for its client. */
bool admission_resume_is_leaving(const conn_rec *c);

/**
 * Run the rest of the handler hook, and finish the request unless it is
 * suspended again.
 * @param handler  r->handler at the hook's first call; httpd has reset it
 * @param run      returns what a handler returns
 * @param data     for run
 * @return whether the request is about to wait again, see
 *         admission_resume_is_leaving(). If not, it might no longer exist.
 */
bool admission_resume_handler(request_rec *r, const char *handler,
                              int (*run)(request_rec *r, void *data),
                              void *data);

/** Finish a request whose handlers have returned and whose response is sent or
 *  discarded. */
void admission_resume_end(request_rec *r);

#endif
