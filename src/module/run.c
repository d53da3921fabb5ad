/* run.c - act on the decision: run the request or reject it. */
#include <httpd.h>
#include <apr_strings.h>
#include <apr_hooks.h>
#include <http_config.h>
#include <http_log.h>
#include <http_request.h>

#include "part.h"
#include "backend.h"
#include "nested/nested_redirect.h"
#include "http2/http2.h"
#include "program.h"
#include "park/park_ready.h"
#include "release.h"
#include "run.h"
#include "report.h"
#include "nested/nested_proxied.h"
#include "url.h"
#include "visit.h"
#include "wait.h"

APLOG_USE_MODULE(admission);

static int (*own_hook)(request_rec *r);

void admission_run_set_own_hook(int (*hook)(request_rec *r))
{
    own_hook = hook;
}

/* Run the handlers after our own. ap_run_handler() would run those before ours
 * twice. Never returns DECLINED, because httpd would then run the handlers
 * again, without a permit. */
static int run_handlers_behind(request_rec *r)
{
    apr_array_header_t *hooks = ap_hook_get_handler();
    ap_LINK_handler_t *hook = (ap_LINK_handler_t *)hooks->elts;
    int i, rv = DECLINED;

    if (admission_program_reject_without_manager(r)) {
        return HTTP_SERVICE_UNAVAILABLE;
    }
    for (i = 0; i < hooks->nelts && hook[i].pFunc != own_hook; i++) {
    }
    for (i++; i < hooks->nelts && rv == DECLINED; i++) {
        rv = hook[i].pFunc(r);
    }
    if (rv == DECLINED) {
        ap_log_rerror(
            APLOG_MARK, APLOG_WARNING, 0, r, ADMLOGNO(0205)
            "handler \"%s\" not found for %s: the client gets a 500; load the "
            "module that has this handler",
            r->handler, r->filename);
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    return rv;
}

/* Pauses between attempts: the first one, and the last one. Each is twice as
 * long as the previous one. */
#define DAEMON_PAUSE_USEC (50 * ADM_USEC_PER_MSEC)
#define DAEMON_PAUSE_MAX_USEC (1600 * ADM_USEC_PER_MSEC)

/* Run the handlers, and repeat that while mod_cgid's daemon cannot be reached,
 * for about 3 s. A reload replaces the daemon. Until the new one accepts
 * connections, mod_cgid responds with 503 immediately, so that the whole queue
 * would be rejected within milliseconds. Retrying with the permit holds the
 * queue back. */
static int run_with_retries(request_rec *r, const admission_request_t *state)
{
    adm_usec_t pause = DAEMON_PAUSE_USEC;
    int rv = run_handlers_behind(r);

    while (state->visit
           && admission_program_has_no_daemon(r, &state->visit->ticket, rv)
           && pause <= DAEMON_PAUSE_MAX_USEC
           && !adm_child_is_stopping(state->visit->ticket.child)
           && !admission_wait_client_has_gone(r)) {
        apr_sleep(pause);
        pause *= 2;
        rv = run_handlers_behind(r);
    }
    return rv;
}

/* ---- mod_cache ----------------------------------------------------------- */

/* mod_cache runs before the request waits. If many clients request the same
 * page concurrently, the first ones run the program; when the others get their
 * permits, the response is cached.
 *
 * Only for the quick handler, mod_cache's default. Its other mode adds filters
 * to the request and takes a lock with each query. docs/dev/decisions has the
 * reasons. */
typedef int (*quick_handler_t)(request_rec *r, int lookup);

static quick_handler_t quick_handler_of_cache(void)
{
    apr_array_header_t *hooks = ap_hook_get_quick_handler();
    ap_LINK_quick_handler_t *hook = hooks
                                        ? (ap_LINK_quick_handler_t *)hooks->elts
                                        : NULL;
    int i;

    for (i = 0; hook && i < hooks->nelts; i++) {
        if (strcmp(hook[i].szName, "mod_cache.c") == 0) {
            return hook[i].pFunc;
        }
    }
    return NULL;
}

/* A query changes headers and filters, so it gets a copy of the request. */
static request_rec *copy_request(const request_rec *r)
{
    request_rec *copy = apr_pmemdup(r->pool, r, sizeof(*r));

    copy->headers_in = apr_table_copy(r->pool, r->headers_in);
    copy->headers_out = apr_table_copy(r->pool, r->headers_out);
    copy->err_headers_out = apr_table_copy(r->pool, r->err_headers_out);
    copy->notes = apr_table_copy(r->pool, r->notes);
    copy->subprocess_env = apr_table_copy(r->pool, r->subprocess_env);
    copy->output_filters = r->proto_output_filters;
    return copy;
}

/* @return whether mod_cache can serve the request now. Does not change the
 * request. */
static bool cache_has(request_rec *r)
{
    quick_handler_t quick_handler = quick_handler_of_cache();

    /* Subrequests and redirects did not go through the quick handler. */
    return quick_handler && !r->main && !r->prev
           && quick_handler(copy_request(r), 1) == OK;
}

/* Restart the request by an internal redirect, so that mod_cache serves it. */
static int serve_from_cache(request_rec *r)
{
    ap_internal_redirect(apr_uri_unparse(r->pool, &r->parsed_uri,
                                         APR_URI_UNP_OMITSITEPART),
                         r);
    return OK;
}

/* ---- with a permit ------------------------------------------------------- */

/* Start the steps of each capability. @return the one whose end() and rest()
 * are called, with the argument @a data; NULL: none. */
static const admission_part_t *
begin_parts(request_rec *r, admission_visit_t *visit, void **data)
{
    const admission_part_t *with = NULL;
    int i;

    for (i = 0; i < ADMISSION_PARTS_NUMBER; i++) {
        void *own = admission_parts[i]->begin
                        ? admission_parts[i]->begin(r, visit)
                        : NULL;

        if (own) {
            with = admission_parts[i];
            *data = own;
        }
    }
    return with;
}

/* Run the request with its permit. After a wait, query mod_cache again, because
 * it might have cached the response in the meantime. If the cached response is
 * removed in between, the restarted request runs on this request's permit. */
static int run_with_permit(request_rec *r, admission_request_t *state)
{
    void *data = NULL;
    const admission_part_t *part = begin_parts(r, state->visit, &data);
    bool is_proxied = admission_backend_is_asked(r);
    bool has_header, watches, has_rest;
    int rv;

    has_header = is_proxied && admission_proxied_begin_http2(r);
    watches = is_proxied && admission_backend_watch(r, &state->visit->ticket);
    admission_program_export_token(r, &state->visit->ticket);
    if (state->outcome == ADM_WAITED && cache_has(r)) {
        rv = serve_from_cache(r);
    }
    else {
        rv = run_with_retries(r, state);
    }
    admission_program_remove_token(r);
    if (has_header) {
        admission_proxied_end_http2(r);
    }
    if (watches) {
        admission_backend_unwatch(r);
    }
    has_rest = part && part->end(data, rv);
    if (state->visit) { /* unless the redirect's target took it over */
        bool has_ended = admission_release_after_handler(r,
                                                         &state->visit->ticket,
                                                         rv, has_rest);

        if (has_ended || rv != SUSPENDED) {
            state->visit->lingers = !has_ended;
            state->visit = NULL; /* which another request may reuse */
        }
    }
    return has_rest ? part->rest(r, data) : rv;
}

/* Drop the connection without a response: the client has disconnected, or the
 * child stops. An ErrorDocument could then block the child's exit, for example
 * because it needs mod_cgid's daemon, which exits with the child. 499, for the
 * access log, is nginx's "client closed request". */
static int drop_connection(request_rec *r, adm_outcome_t outcome)
{
    r->connection->keepalive = AP_CONN_CLOSE;
    if (outcome == ADM_GONE) {
        r->connection->aborted = 1;
        r->status = 499;
    }
    else {
        r->status = HTTP_SERVICE_UNAVAILABLE;
    }
    return DONE;
}

/* Run the request, with or without a permit, reject it, or drop its
 * connection. */
static int act(request_rec *r, admission_request_t *state)
{
    adm_action_t action = adm_outcome_action(state->outcome);

    if (action == ADM_RUN) {
        return run_with_permit(r, state);
    }
    state->visit = NULL; /* the ticket has ended */
    if (action == ADM_RUN_FREE) {
        return run_handlers_behind(r);
    }
    return action == ADM_REJECT ? admission_url_reject(r)
                                : drop_connection(r, state->outcome);
}

int admission_run(request_rec *r)
{
    admission_request_t *state = admission_visit_request(r);
    int rv;

    state->may_suspend = !r->main && !r->prev;
    if (state->enters_for_target
        && adm_outcome_action(state->outcome) != ADM_DROP_CONNECTION) {
        rv = admission_redirect_run(r, run_handlers_behind);
    }
    else {
        admission_report(r);
        rv = act(r, state);
        admission_http2_leave(r, state);
    }
    /* The response's rest is sent without a worker. It can be the response of
     * the request to which a handler has redirected this one. */
    if (state->may_suspend && admission_ready_is_leaving(r->connection)) {
        rv = SUSPENDED;
    }
    state->may_suspend = false;
    return rv;
}
