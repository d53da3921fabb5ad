/* nested_self.h - requests that this server sends to itself, also by a filter on
 * this machine. */
#ifndef NESTED_SELF_H
#define NESTED_SELF_H

#include "module/conf.h"

/** So many requests that this server sends to itself for one of a client run with
 *  the permit of that one. */
#define ADMISSION_SELF_HOPS_MAX 10

/** @return whether mod_proxy is loaded, or was before a restart: what it sent may
 *  still be on its way. Else no request comes from this server. */
bool admission_self_is_possible(void);

/** Take the tickets out of a request before other modules see them. */
int admission_self_post_read_request(request_rec *r);

/** mod_proxy is about to send a request: the hook fixups of mod_proxy. If it goes
 *  to a program of this machine or to this very server, it carries the tickets of what
 *  its sender holds. No other request carries any. */
int admission_self_proxy_fixups(request_rec *r);

/** mod_proxy is about to answer. mod_proxy_http2 runs no hook before it sends what
 *  is in the request's header: it carries tickets from now on, as above. @return whether it does, and admission_self_end_http2() is due. */
bool admission_self_begin_http2(request_rec *r);

/** They have run. */
void admission_self_end_http2(request_rec *r);

/** What a request has to do with what the server itself does. */
typedef enum admission_self_t {
    ADMISSION_SELF_STRANGER, /* nothing, as far as this zone goes */
    ADMISSION_SELF_PART,     /* somebody waits for it with a permit of the zone,
                              * and needs that afterwards */
    ADMISSION_SELF_HEIR,     /* it has the permit of who waits for it */
    ADMISSION_SELF_ENDLESS /* there were so many between the client's request and
                              * this one that they probably go in a circle: it
                              * must hold no further worker */
} admission_self_t;

/** If this server has sent the request to itself, for one that holds a permit of
 *  the zone and does nothing more than pass the answer on, the permit moves to
 *  @a ticket. */
admission_self_t admission_self_claim(const request_rec *r,
                                      const admission_zone_t *zone,
                                      adm_ticket_t *ticket);

/** @return whether the request, which has waited too long, comes from this machine, and
 *  all permits are held by requests that another virtual host has sent to programs of
 *  this machine: if one of these has sent it, they wait for each other. */
bool admission_self_is_awaited(const request_rec *r,
                               const admission_zone_t *zone);

#endif
