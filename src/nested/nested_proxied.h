/* nested_proxied.h - requests that mod_proxy sends to this server, directly or
 * through a filter on this machine.
 */
#ifndef NESTED_PROXIED_H
#define NESTED_PROXIED_H

#include "module/conf.h"

/** A request this many hops behind the client's request is rejected. */
#define ADMISSION_PROXIED_HOPS_MAX 10

/** @return whether a request can come from this server: whether mod_proxy is
 *  loaded, or was before a restart, so that its requests might still run. */
bool admission_proxied_is_possible(void);

/** The hook post_read_request: take the header out of a request before other
 *  modules see it, and store its tickets. */
int admission_proxied_post_read_request(request_rec *r);

/** mod_proxy's fixups hook: set the header of a request that is sent to this
 *  machine if its sender holds or has received tickets. Remove it from all
 *  others. */
int admission_proxied_fixups(request_rec *r);

/** Set the header before mod_proxy_http2 runs, which calls no hook and copies
 *  r->headers_in. @return whether it is set, and admission_proxied_end_http2()
 *  must be called when its handler has returned. */
bool admission_proxied_begin_http2(request_rec *r);

/** Remove the header. */
void admission_proxied_end_http2(request_rec *r);

/** Relation of a request to the requests that this server sends to itself. */
typedef enum admission_proxied_t {
    ADMISSION_PROXIED_UNRELATED, /* no relation to a request of this zone */
    ADMISSION_PROXIED_PART, /* the sender keeps its permit, because it needs it
                              * afterwards */
    ADMISSION_PROXIED_SUCCESSOR, /* took over the sender's permit */
    ADMISSION_PROXIED_ENDLESS    /* too many hops, probably a loop: reject it */
} admission_proxied_t;

/** Find out whether this server sent the request on behalf of one with a permit
 *  of the zone. If so, and the sender only passes the response on, the permit
 *  moves to @a ticket. */
admission_proxied_t admission_proxied_claim(const request_rec *r,
                                            const admission_zone_t *zone,
                                            adm_ticket_t *ticket);

/** @return whether a request that has timed out was probably waiting for
 *  itself: it comes from this machine, and all permits are held by requests
 *  that another virtual host has proxied to this machine. */
bool admission_proxied_is_awaited(const request_rec *r,
                                  const admission_zone_t *zone);

#endif
