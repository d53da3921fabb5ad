/* visit.c - what the module stores for each request and connection. */
#include <httpd.h>
#include <http_config.h>

#include "release.h"
#include "visit.h"

admission_request_t *admission_visit_note(request_rec *r,
                                          const admission_zone_t *zone)
{
    admission_request_t *state = apr_pcalloc(r->pool, sizeof(*state));

    state->zone = zone;
    ap_set_module_config(r->request_config, &admission_module, state);
    return state;
}

static admission_connection_t *make_connection(conn_rec *c)
{
    admission_connection_t *state = admission_visit_connection(c);

    if (!state) {
        state = apr_pcalloc(c->pool, sizeof(*state));
        ap_set_module_config(c->conn_config, &admission_module, state);
    }
    return state;
}

void admission_visit_set_ready(conn_rec *c, struct admission_ready_t *ready)
{
    make_connection(c)->ready = ready;
}

admission_related_t admission_visit_related(const request_rec *r,
                                            const admission_zone_t *zone)
{
    const request_rec *root = admission_visit_root(r);
    const request_rec *ancestor;
    admission_visit_t *visit;
    admission_related_t related = { 0 };

    for (visit = admission_visit_first(r->connection); visit;
         visit = visit->next) {
        if (visit->root == root && adm_ticket_holds(&visit->ticket)) {
            related.holds_any = true;
            if (visit->zone == zone) {
                related.visit_of_zone = visit;
            }
        }
    }
    for (ancestor = admission_visit_parent(r); ancestor;
         ancestor = admission_visit_parent(ancestor)) {
        admission_request_t *state = admission_visit_request(ancestor);

        if (state && state->was_rejected) {
            related.was_rejected = true;
            related.was_rejected_by_zone |= state->zone == zone;
        }
    }
    return related;
}

/* ---- visits -------------------------------------------------------------- */

/* Last resort when the connection ends: release a ticket that is still in
 * use. */
static apr_status_t end_visit_with_connection(void *data)
{
    admission_visit_t *visit = data;

    admission_release_after_request(&visit->ticket);
    return APR_SUCCESS;
}

/* Reuse a visit that has ended, or make one. It is registered for release
 * before its ticket is acquired. */
static admission_visit_t *find_visit(conn_rec *c)
{
    admission_visit_t *first = admission_visit_first(c);
    admission_visit_t *visit;

    for (visit = first; visit; visit = visit->next) {
        if (!adm_ticket_is_in_use(&visit->ticket)) {
            return visit;
        }
    }
    visit = apr_pcalloc(c->pool, sizeof(*visit));
    visit->next = first;
    make_connection(c)->first = visit;
    /* no cleanup in a forked process: it holds no permits */
    apr_pool_cleanup_register(c->pool, visit, end_visit_with_connection,
                              apr_pool_cleanup_null);
    return visit;
}

admission_visit_t *admission_visit_make(request_rec *r,
                                        const admission_zone_t *zone)
{
    admission_visit_t *visit = find_visit(r->connection);

    memset(&visit->ticket, 0, sizeof(visit->ticket));
    visit->zone = zone;
    visit->root = admission_visit_root(r);
    visit->lingers = false;
    return visit;
}
