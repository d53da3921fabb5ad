/* park_resume.h - what httpd does around a handler, for one that returned
 * SUSPENDED.
 */
#ifndef PARK_RESUME_H
#define PARK_RESUME_H

#include "park_lot.h"
#include "park_ready.h"

/** @return whether the handler of this request may return SUSPENDED: the MPM can wait
 *  for its connection then. */
static inline bool admission_resume_is_possible(const request_rec *r)
{
    const conn_rec *c = r->connection;

    /* Others run below somebody who cannot be suspended, or on a connection
     * that the MPM does not poll. */
    return c->cs && !c->master && !c->clogging_input_filters && !r->main
           && !r->prev && admission_lot_is_open();
}

/** @return whether a request of this connection is about to wait without a worker,
 *  for its permit or for its client. */
bool admission_resume_is_leaving(const conn_rec *c);

/**
 * Run what is left of the handler hook, and finish the request, unless it is
 * suspended once more.
 *
 * @param handler  as it was when the hook was called: httpd resets it
 * @param run      returns what a handler returns
 * @param data     its argument
 * @return whether it is about to wait once more, see admission_resume_is_leaving().
 */
bool admission_resume_handler(request_rec *r, const char *handler,
                              int (*run)(request_rec *r, void *data),
                              void *data);

/** The handlers have returned, and the answer was sent, or nobody reads it: finish
 *  the request. */
void admission_resume_end(request_rec *r);

#endif
