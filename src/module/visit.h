/* visit.h - what is known of a request, and what it holds. */
#ifndef MODULE_VISIT_H
#define MODULE_VISIT_H

#include "conf.h"

/** A request's stay in a zone. Lives in the connection's pool and is used
 *  again for later requests: it may end after the request's own pool. */
typedef struct admission_visit_t {
    adm_ticket_t ticket;
    const admission_zone_t *zone;
    const request_rec *root; /* the request that the client sent; compared, not
                              * followed: the ticket may outlive it */
    struct admission_parking_t *parking; /* NULL: never parked */
    struct admission_visit_t *next;      /* of the connection's */
} admission_visit_t;

/** What is known of a connection. In its conn_config. */
typedef struct admission_connection_t {
    admission_visit_t *first;        /* some may have ended */
    struct admission_ready_t *ready; /* what it waits with for its client
                                      * (park_ready.c); NULL: it never
                                      * did */
} admission_connection_t;

/** What is known of one request_rec. In its request_config. */
typedef struct admission_request_t {
    const admission_zone_t *zone; /* that it asked; NULL: a guest */
    admission_visit_t *visit;     /* its own or an ancestor's; NULL: none */
    bool leads_on;                /* it asked for the target of its redirect */
    const struct admission_verdict_t *ahead; /* which the target has not taken
                                              * over yet; NULL: nothing to take */
    bool was_rejected;
    bool may_suspend;       /* its handlers run, and may return SUSPENDED */
    bool counts_for_http2;  /* admission_http2_leave() is due */
    const char *why_denied; /* a worker, for the log; NULL: it was not, or for
                             * the common reason */
} admission_request_t;

/** What the client's request holds already, in whichever of its parts: also a
 *  part that has run, whose program has not ended yet. */
typedef struct admission_kin_t {
    admission_visit_t *visit_of_zone; /* NULL: none in this zone */
    bool holds_any;
    bool was_rejected;         /* an ancestor: this is its error page */
    bool was_rejected_by_zone; /* by this very zone */
} admission_kin_t;

/** @return what is known of this very request_rec; NULL: nothing. */
static inline admission_request_t *admission_visit_request(const request_rec *r)
{
    return ap_get_module_config(r->request_config, &admission_module);
}

/** @return what is known of this connection; NULL: nothing. */
static inline admission_connection_t *
admission_visit_connection(const conn_rec *c)
{
    return ap_get_module_config(c->conn_config, &admission_module);
}

/** @return the first visit of a connection, of which some may have ended. */
static inline admission_visit_t *admission_visit_first(const conn_rec *c)
{
    const admission_connection_t *known = admission_visit_connection(c);

    return known ? known->first : NULL;
}

/** @return what a connection waits with for its client; NULL: it never did. */
static inline struct admission_ready_t *admission_visit_ready(const conn_rec *c)
{
    const admission_connection_t *known = admission_visit_connection(c);

    return known ? known->ready : NULL;
}

/** @return the request that made this one by a subrequest or a redirect. */
static inline request_rec *admission_visit_parent(const request_rec *r)
{
    return r->main ? r->main : r->prev;
}

/** @return the request that the client sent, of which this one is a part. */
static inline request_rec *admission_visit_root(const request_rec *r)
{
    while (admission_visit_parent(r)) {
        r = admission_visit_parent(r);
    }
    return (request_rec *)r;
}

/** Note that the request asks this zone. @return what is known of it, for the
 *  caller to fill in. */
admission_request_t *admission_visit_note(request_rec *r,
                                          const admission_zone_t *zone);

/** The permit that another part of the request holds serves this one, too. */
void admission_visit_share(request_rec *r, admission_visit_t *visit);

/** @return the visit with whose permit this request runs; NULL: none. */
static inline admission_visit_t *admission_visit_of(const request_rec *r)
{
    for (; r; r = admission_visit_parent(r)) {
        const admission_request_t *known = admission_visit_request(r);

        if (known && known->visit && adm_ticket_holds(&known->visit->ticket)) {
            return known->visit;
        }
    }
    return NULL;
}

/** Let a connection wait for its client with this. */
void admission_visit_set_ready(conn_rec *c, struct admission_ready_t *ready);

/** @return a visit for a request that enters the zone, registered for release
 *  when its connection ends. */
admission_visit_t *admission_visit_make(request_rec *r,
                                        const admission_zone_t *zone);

/** @return what the other parts of the client's request hold. */
admission_kin_t admission_visit_kin(const request_rec *r,
                                    const admission_zone_t *zone);

#endif
