/* spool_backend.h - send to the client while a backend is silent.
 *
 * mod_proxy_http reads from its backend on the thread of the request, and inserts a FLUSH
 * bucket before it waits. An input filter of its connection to the backend sees the wait:
 * meanwhile the client gets what is kept for it.
 */
#ifndef SPOOL_BACKEND_H
#define SPOOL_BACKEND_H

#include "spool_drain.h"

void spool_backend_register_filter(void);

/** The hook pre_connection: a connection to a backend is among them. */
int spool_backend_pre_connection(conn_rec *c, void *socket);

/** The handlers of a request run on this thread; what they write goes to @a drain.
 *  @return what spool_backend_end() takes. */
admission_drain_t *spool_backend_begin(admission_drain_t *drain);

/** The handlers have returned. */
void spool_backend_end(admission_drain_t *outer);

#endif
