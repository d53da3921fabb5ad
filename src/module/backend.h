/* backend.h - which backend mod_proxy sends a request to, and whether it switches
 * to another protocol.
 */
#ifndef MODULE_BACKEND_H
#define MODULE_BACKEND_H

#include <stdbool.h>

#include <httpd.h>

#include "core/adm.h"

/** Prefix of a handler or filename that mod_proxy serves. */
#define ADMISSION_BACKEND "proxy:"

/** @return whether a handler or filename has the prefix. NULL: no. */
static inline bool admission_backend_is_name(const char *name)
{
    return name
           && strncmp(name, ADMISSION_BACKEND, strlen(ADMISSION_BACKEND)) == 0;
}

/** @return whether mod_proxy serves the request, unless another handler does
 *  before it. */
static inline bool admission_backend_is_asked(const request_rec *r)
{
    return admission_backend_is_name(r->handler)
           || admission_backend_is_name(r->filename);
}

/** @return the backend's URL, for a balancer the chosen member's; NULL: not
 *  proxied, or no member is chosen yet. */
const char *admission_backend_url(const request_rec *r);

/** @return whether the backend responds in HTTP/1, and the module can see its
 *  response: not FastCGI and the like. */
bool admission_backend_speaks_http(const request_rec *r);

/** @return whether mod_proxy_http2 sends the request. False for a balancer that
 *  has not chosen a member yet. */
bool admission_backend_speaks_http2(const request_rec *r);

/** Register the filter that watches responses. Call once, when hooks are
 *  registered. */
void admission_backend_register_filter(void);

/** Watch the response that mod_proxy is about to send: release the ticket when
 *  an HTTP backend responds with 101. @return whether it is watched; then
 *  admission_backend_unwatch() must be called when the handlers have returned.
 */
bool admission_backend_watch(request_rec *r, adm_ticket_t *ticket);

/** Stop watching. */
void admission_backend_unwatch(request_rec *r);

#endif
