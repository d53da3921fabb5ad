/* run.c - tell of a verdict, and act on it. */
#include <httpd.h>
#include <apr_hooks.h>
#include <http_config.h>
#include <http_log.h>

#include "part.h"
#include "proxied.h"
#include "cache.h"
#include "nested/nested_redirect.h"
#include "http2/http2.h"
#include "program.h"
#include "park/park_ready.h"
#include "release.h"
#include "run.h"
#include "nested/nested_self.h"
#include "upgrade.h"
#include "url.h"
#include "visit.h"
#include "wait.h"

APLOG_USE_MODULE(admission);

static int (*own_hook)(request_rec *r);

void admission_run_behind(int (*hook)(request_rec *r))
{
    own_hook = hook;
}

/* Run the handlers behind ours, as httpd would have done. Not ap_run_handler():
 * the ones before ours must not run twice. Never DECLINED: httpd would run them
 * again, then without a permit. */
static int run_handlers_behind(request_rec *r)
{
    apr_array_header_t *hooks = ap_hook_get_handler();
    ap_LINK_handler_t *hook = (ap_LINK_handler_t *)hooks->elts;
    int i, rv = DECLINED;

    for (i = 0; i < hooks->nelts && hook[i].pFunc != own_hook; i++) {
    }
    for (i++; i < hooks->nelts && rv == DECLINED; i++) {
        rv = hook[i].pFunc(r);
    }
    if (rv == DECLINED) {
        ap_log_rerror(APLOG_MARK, APLOG_WARNING, 0, r, ADMLOGNO(0205)
                      "handler \"%s\" not found for: %s", r->handler,
                      r->filename);
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    return rv;
}

/* The first pause, and the longest: each is twice as long as the one before. */
#define DAEMON_PAUSE_USEC (50 * ADM_USEC_PER_MSEC)
#define DAEMON_PAUSE_MAX_USEC (1600 * ADM_USEC_PER_MSEC)

/* A reload replaces mod_cgid's daemon. Until the new one has given its socket to
 * httpd's user, mod_cgid answers 503 at once: with each permit that comes back,
 * and so to a whole queue within milliseconds. A request that keeps its permit
 * and tries again holds the others back. */
static int run_when_daemon_is_there(request_rec *r,
                                    const admission_request_t *known)
{
    adm_usec_t pause = DAEMON_PAUSE_USEC;
    int rv = run_handlers_behind(r);

    while (known->visit
           && admission_program_has_no_daemon(r, &known->visit->ticket, rv)
           && pause <= DAEMON_PAUSE_MAX_USEC
           && !adm_child_is_stopping(known->visit->ticket.child)
           && !admission_wait_client_has_gone(r)) {
        apr_sleep(pause);
        pause *= 2;
        rv = run_handlers_behind(r);
    }
    return rv;
}

static void begin_parts(request_rec *r, admission_visit_t *visit,
                        void *begun[ADMISSION_PARTS_NUMBER])
{
    int i;

    for (i = 0; i < ADMISSION_PARTS_NUMBER; i++) {
        begun[i] = admission_parts[i]->begin
                       ? admission_parts[i]->begin(r, visit)
                       : NULL;
    }
}

/* @return the number of the capability that has a rest to send; -1: none. */
static int end_parts(void *const begun[ADMISSION_PARTS_NUMBER], int rv)
{
    int i, rest = -1;

    for (i = 0; i < ADMISSION_PARTS_NUMBER; i++) {
        if (begun[i] && admission_parts[i]->end(begun[i], rv)) {
            rest = i;
        }
    }
    return rest;
}

/* @param has_waited  mod_cache is asked again: it may have an answer by now. If
 *                    that is gone in the next moment, the request that begins
 *                    again has this one's permit. */
static int run_with_permit(request_rec *r, admission_request_t *known,
                           bool has_waited)
{
    void *begun[ADMISSION_PARTS_NUMBER + 1];
    bool is_proxied = admission_backend_is_asked(r);
    bool tells_http2, watches;
    int rest, rv;

    begin_parts(r, known->visit, begun);
    tells_http2 = is_proxied && admission_self_begin_http2(r);
    watches = is_proxied && admission_upgrade_watch(r, &known->visit->ticket);
    admission_program_export_token(r, &known->visit->ticket);
    if (has_waited && admission_cache_has(r)) {
        rv = admission_cache_serve(r);
    }
    else {
        rv = run_when_daemon_is_there(r, known);
    }
    admission_program_remove_token(r);
    if (tells_http2) {
        admission_self_end_http2(r);
    }
    if (watches) {
        admission_upgrade_unwatch(r);
    }
    rest = end_parts(begun, rv);
    if (known->visit /* not handed on */
        && admission_release_after_handler(r, &known->visit->ticket, rv,
                                           rest >= 0)) {
        known->visit = NULL;
    }
    return rest >= 0 ? admission_parts[rest]->rest(r, begun[rest]) : rv;
}

/* Nobody reads the answer, or it must not be made: what an ErrorDocument may
 * need, such as mod_cgid's daemon, ends with the child, which would wait for it.
 * 499 is for the log: "client closed the request", as other servers write it. */
static int hang_up(request_rec *r, adm_outcome_t outcome)
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

static int act(request_rec *r, admission_request_t *known,
               const admission_verdict_t *verdict)
{
    adm_action_t action = adm_outcome_action(verdict->outcome);

    if (action == ADM_RUN) {
        return run_with_permit(r, known, verdict->outcome == ADM_WAITED);
    }
    known->visit = NULL; /* its ticket has ended */
    if (action == ADM_RUN_FREE) {
        return run_handlers_behind(r);
    }
    return action == ADM_REFUSE ? admission_url_reject(r)
                                : hang_up(r, verdict->outcome);
}

int admission_run(request_rec *r, const admission_verdict_t *verdict)
{
    admission_request_t *known = admission_visit_request(r);
    int rv;

    known->may_suspend = !r->main && !r->prev;
    if (known->leads_on
        && adm_outcome_action(verdict->outcome) != ADM_HANG_UP) {
        rv = admission_detour_run(r, verdict, run_handlers_behind);
        if (known->may_suspend && admission_ready_is_leaving(r->connection)) {
            /* A part of it has found out that the rest needs no worker. */
            rv = SUSPENDED;
        }
    }
    else {
        admission_tell(r, verdict);
        rv = act(r, known, verdict);
        admission_http2_leave(r, known);
    }
    known->may_suspend = false;
    return rv;
}
