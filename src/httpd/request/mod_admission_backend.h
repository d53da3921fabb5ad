/* mod_admission_backend.h - which backend answers, and what its silence is used for.
 *
 * mod_proxy_http reads from its backend on the thread of the request, and says FLUSH
 * before it waits. An input filter of its connection to the backend sees the wait:
 * meanwhile the client gets what is kept for it.
 */
#ifndef MOD_ADMISSION_BACKEND_H
#define MOD_ADMISSION_BACKEND_H

#include "spool/spool_drain.h"

void admission_backend_register_filter(void);

/** The hook pre_connection: a connection to a backend is among them. */
int admission_backend_pre_connection(conn_rec *c, void *socket);

/** The handlers of a request run on this thread; what they write goes to @a drain.
 *  @return what admission_backend_end() takes. */
admission_drain_t *admission_backend_begin(admission_drain_t *drain);

/** They have returned. */
void admission_backend_end(admission_drain_t *outer);

/** How mod_proxy names what it answers, as handler or as file. */
#define ADMISSION_BACKEND "proxy:"

/** @return whether mod_proxy answers what has this name; NULL: none. */
static inline bool admission_backend_is_name(const char *name)
{
    return name
           && strncmp(name, ADMISSION_BACKEND, strlen(ADMISSION_BACKEND)) == 0;
}

/** @return whether mod_proxy answers this request, if nobody does before. */
static inline bool admission_backend_is_asked(const request_rec *r)
{
    return admission_backend_is_name(r->handler)
           || admission_backend_is_name(r->filename);
}

/** @return the URL that mod_proxy asks, of a balancer's member if that is chosen; NULL:
 *  none, or not known yet. */
const char *admission_backend_url(const request_rec *r);

/** @return whether a backend answers this request in HTTP. Of FastCGI and the like,
 *  the handler waits where it is not seen. */
bool admission_backend_speaks_http(const request_rec *r);

/** @return whether mod_proxy_http2 sends the request to a backend. Of a balancer that is
 *  not known before it has chosen: no. */
bool admission_backend_speaks_http2(const request_rec *r);

#endif
