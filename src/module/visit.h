/* visit.h - what the module stores for each request and connection.
 *
 * A visit is one request's entry into a zone, from entering to leaving. The
 * related requests of a request are the client's request and all subrequests
 * and redirects made from it.
 */
#ifndef MODULE_VISIT_H
#define MODULE_VISIT_H

#include "conf.h"

/** One request's entry into a zone. Allocated from the connection's pool and
 *  reused for later requests, because it can outlive the request's pool. */
typedef struct admission_visit_t {
    adm_ticket_t ticket;
    const admission_zone_t *zone;
    const request_rec *root; /* the client's request; compared, never
                              * dereferenced: the ticket can outlive it */
    struct admission_parking_t *parking; /* NULL: never parked */
    bool lingers; /* its handler has returned, its program might still run */
    struct admission_visit_t *next; /* next visit of the connection */
} admission_visit_t;

/** State of a connection, in its conn_config. */
typedef struct admission_connection_t {
    admission_visit_t *first;        /* list of visits; some have ended */
    struct admission_ready_t *ready; /* descriptor for waiting for the client
                                      * without a worker (park_ready.c); NULL:
                                      * not used yet */
} admission_connection_t;

/** State of one request_rec, in its request_config. */
typedef struct admission_request_t {
    const admission_zone_t *zone; /* zone that the request entered; NULL: it
                                   * runs on a related request's permit */
    admission_visit_t *visit; /* its own or a related request's; NULL: none */
    adm_outcome_t outcome;    /* the decision */
    adm_usec_t waited_usec;   /* 0: it did not wait */
    bool enters_for_target;   /* entered the zone on behalf of its redirect's
                               * target */
    bool is_ahead; /* the target has not taken the decision over yet */
    bool was_rejected;
    bool may_suspend;       /* its handlers are running, and may return
                             * SUSPENDED */
    bool counts_for_http2;  /* admission_http2_leave() must be called */
    const char *why_denied; /* why it got no worker, for the log; NULL: the
                             * outcome's own reason */
} admission_request_t;

/** What the related requests of a request hold, including a finished one whose
 *  program is still running. */
typedef struct admission_related_t {
    admission_visit_t *visit_of_zone; /* NULL: none in this zone */
    bool holds_any;
    bool was_rejected;         /* an ancestor was rejected: this is its error
                                * page */
    bool was_rejected_by_zone; /* rejected by the same zone */
} admission_related_t;

/** @return the state of this request_rec; NULL: none. */
static inline admission_request_t *admission_visit_request(const request_rec *r)
{
    return ap_get_module_config(r->request_config, &admission_module);
}

/** @return the state of this connection; NULL: none. */
static inline admission_connection_t *
admission_visit_connection(const conn_rec *c)
{
    return ap_get_module_config(c->conn_config, &admission_module);
}

/** @return the connection's first visit, which can have ended; NULL: none. */
static inline admission_visit_t *admission_visit_first(const conn_rec *c)
{
    const admission_connection_t *state = admission_visit_connection(c);

    return state ? state->first : NULL;
}

/** @return the connection's descriptor for waiting for its client; NULL:
 *  none. */
static inline struct admission_ready_t *admission_visit_ready(const conn_rec *c)
{
    const admission_connection_t *state = admission_visit_connection(c);

    return state ? state->ready : NULL;
}

/** @return the request that this one is a subrequest of, or was redirected
 *  from. */
static inline request_rec *admission_visit_parent(const request_rec *r)
{
    return r->main ? r->main : r->prev;
}

/** @return the client's request that this one stems from. */
static inline request_rec *admission_visit_root(const request_rec *r)
{
    while (admission_visit_parent(r)) {
        r = admission_visit_parent(r);
    }
    return (request_rec *)r;
}

/** Create the state of a request that enters this zone; NULL: it runs on the
 *  permit of a related request. @return the state, for the caller to fill in. */
admission_request_t *admission_visit_note(request_rec *r,
                                          const admission_zone_t *zone);

/** @return the visit whose permit the request runs on; NULL: none. */
static inline admission_visit_t *admission_visit_of(const request_rec *r)
{
    for (; r; r = admission_visit_parent(r)) {
        const admission_request_t *state = admission_visit_request(r);

        if (state && state->visit && adm_ticket_holds(&state->visit->ticket)) {
            return state->visit;
        }
    }
    return NULL;
}

/** Set the connection's descriptor for waiting for its client. */
void admission_visit_set_ready(conn_rec *c, struct admission_ready_t *ready);

/** @return a visit for a request that enters the zone. It is released at the
 *  latest when the connection ends. */
admission_visit_t *admission_visit_make(request_rec *r,
                                        const admission_zone_t *zone);

/** @return what the related requests of @a r hold. */
admission_related_t admission_visit_related(const request_rec *r,
                                            const admission_zone_t *zone);

#endif
