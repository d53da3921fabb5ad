/* proxied.h - which backend answers a request. */
#ifndef MODULE_PROXIED_H
#define MODULE_PROXIED_H

#include <stdbool.h>

#include <httpd.h>

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
