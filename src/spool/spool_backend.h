/* spool_backend.h - send buffered output to the client while a backend is
 * silent.
 *
 * mod_proxy_http reads from its backend on the request's thread, and inserts a
 * FLUSH bucket before it waits. An input filter of the backend connection
 * notices the wait, and sends the client its buffered output meanwhile.
 */
#ifndef SPOOL_BACKEND_H
#define SPOOL_BACKEND_H

#include "spool_drain.h"

void spool_backend_register_filter(void);

/** The pre_connection hook: adds the filter to connections to backends. */
int spool_backend_pre_connection(conn_rec *c, void *socket);

/**
 * Set the response to which this thread's handlers write, before they run.
 * @return the response of an outer request, for spool_backend_end().
 */
admission_drain_t *spool_backend_begin(admission_drain_t *drain);

/** Restore the outer response, after the handlers have returned. */
void spool_backend_end(admission_drain_t *outer);

#endif
