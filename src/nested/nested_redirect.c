/* nested_redirect.c - enter the zone of the target of an internal redirect.
 *
 * A rewrite rule in .htaccess or <Directory>, or an Action, redirects
 * the client's request inside httpd. The target is a second request_rec, which
 * runs on the stack of the first one and so can no longer be parked. Therefore
 * the first request enters the zone on behalf of its target:
 *
 *   the client's request   looks its target up, enters the target's zone, waits
 *                          there, parked if possible, then redirects
 *     its target           takes the decision and the permit over, and runs
 *
 * If the redirect leads to another zone than looked up, the target enters its
 * zone itself.
 */
#include <httpd.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_protocol.h>
#include <http_request.h>
#include <util_script.h>

#include "nested_actions.h"
#include "module/zones.h"
#include "module/countable.h"
#include "nested_redirect.h"
#include "http2/http2.h"
#include "module/release.h"
#include "module/url.h"
#include "module/process.h"

#define HOPS_MAX 4
#define REDIRECT "redirect:"

/* ---- look up ------------------------------------------------------------- */

/* @return the path that the request's handler redirects to, without a query
 * string (the redirect keeps the request's own); NULL: it does not redirect. */
static const char *target_of(request_rec *r)
{
    if (admission_countable_is_rewritten(r)) {
        return r->filename + strlen(REDIRECT);
    }
    return admission_actions_target(ap_get_module_config(r->per_dir_config,
                                                         &admission_module),
                                    r);
}

/* The environment that the target will see after the redirect. Rewrite rules
 * test REDIRECT_STATUS, so the lookup needs it. */
static apr_table_t *redirected_environment(const request_rec *r)
{
    const apr_array_header_t *old = apr_table_elts(r->subprocess_env);
    apr_table_t *env = apr_table_make(r->pool, old->nelts + 1);
    int i;

    for (i = 0; i < old->nelts; i++) {
        const apr_table_entry_t *entry = &APR_ARRAY_IDX(old, i,
                                                        apr_table_entry_t);

        if (entry->key) {
            apr_table_setn(env,
                           apr_pstrcat(r->pool, "REDIRECT_", entry->key, NULL),
                           entry->val);
        }
    }
    apr_table_setn(env, "REDIRECT_STATUS", apr_itoa(r->pool, r->status));
    return env;
}

void admission_redirect_set_handler(request_rec *r)
{
    if (!r->handler) {
        r->handler = r->content_type
                         ? ap_field_noparam(r->pool, r->content_type)
                         : AP_DEFAULT_HANDLER_NAME;
    }
}

/* @return a subrequest for the target, mapped and with its handler, not run. */
static request_rec *look_up(request_rec *r, const char *uri, const char *args)
{
    apr_table_t *env = r->subprocess_env;
    request_rec *target;

    r->subprocess_env = redirected_environment(r);
    target = ap_sub_req_method_uri(
        r->method, args ? apr_pstrcat(r->pool, uri, "?", args, NULL) : uri, r,
        NULL);
    r->subprocess_env = env;
    admission_redirect_set_handler(target);
    return target;
}

/* Follow the chain of redirects. @return the last target, which the caller must
 * destroy; NULL if a target is denied, or there are more than HOPS_MAX
 * redirects. */
static request_rec *find_last(request_rec *r, const char *uri)
{
    request_rec *target = look_up(r, uri, r->args);
    request_rec *before;
    int hops;

    for (hops = 1; target->status == HTTP_OK; hops++) {
        uri = target_of(target);
        if (!uri) {
            return target;
        }
        if (hops == HOPS_MAX) {
            break;
        }
        before = target;
        target = look_up(r, uri, before->args);
        ap_destroy_sub_req(before);
    }
    ap_destroy_sub_req(target);
    return NULL;
}

request_rec *admission_redirect_follow(request_rec *r)
{
    const char *uri = target_of(r);

    return uri ? find_last(r, uri) : r;
}

/* Fill in @a target. @return whether it counts in a zone and is not exempt. */
static bool target_counts(request_rec *r, request_rec *last,
                          admission_target_t *target)
{
    target->conf = *admission_url_conf_of_target(r, last);
    target->filename = apr_pstrdup(r->pool, last->filename);
    target->handler = apr_pstrdup(r->pool, last->handler);
    return admission_conf_zone(&target->conf)
           && admission_counts(&target->conf, last)
           && !admission_url_is_exempt(last, admission_url_asked(r),
                                       &target->conf);
}

bool admission_redirect_target(request_rec *r, admission_target_t *target)
{
    const char *uri = !r->main && !r->prev ? target_of(r) : NULL;
    request_rec *last;
    bool counts;

    if (!uri || !admission_zones() || !admission_process_child()) {
        return false;
    }
    last = find_last(r, uri);
    counts = last && target_counts(r, last, target);
    if (last) {
        ap_destroy_sub_req(last);
    }
    return counts;
}

/* ---- run, take over, leave ----------------------------------------------- */

/* Release the permit and forget the visit: another request can reuse it
 * immediately. */
static void release_early(const request_rec *r, admission_request_t *state)
{
    adm_ticket_release(&state->visit->ticket, adm_now());
    state->visit = NULL;
    state->is_ahead = false;
    admission_http2_leave(r, state);
}

int admission_redirect_run(request_rec *r, int (*redirect)(request_rec *r))
{
    admission_request_t *state = admission_visit_request(r);
    int rv;

    state->is_ahead = true;
    rv = redirect(r);
    if (state->is_ahead) {
        state->is_ahead = false;
        if (atomic_load(&state->visit->ticket.held)) {
            /* A subrequest might have run a program with the permit, so the
             * program's end is checked first. */
            state->visit->lingers = !admission_release_after_handler(
                r, &state->visit->ticket, rv, false);
        }
    }
    admission_http2_leave(r, state);
    return rv;
}

/* @return the state of the earlier request in this redirect chain that entered
 * a zone on behalf of its target; NULL: none. */
static admission_request_t *state_ahead(const request_rec *r)
{
    const request_rec *prev;

    for (prev = r->main ? NULL : r->prev; prev; prev = prev->prev) {
        admission_request_t *state = admission_visit_request(prev);

        if (state && state->is_ahead) {
            return state;
        }
    }
    return NULL;
}

bool admission_redirect_take_over(request_rec *r, const admission_zone_t *zone)
{
    admission_request_t *before = state_ahead(r);
    admission_request_t *state;

    if (!before) {
        return false;
    }
    if (before->zone != zone) {
        release_early(r, before);
        return false;
    }
    state = admission_visit_note(r, zone);
    state->outcome = before->outcome;
    state->waited_usec = before->waited_usec;
    state->why_denied = before->why_denied;
    state->visit = before->visit;
    state->counts_for_http2 = before->counts_for_http2;
    before->visit = NULL;
    before->counts_for_http2 = false;
    before->is_ahead = false;
    return true;
}

/* Forget a visit that has ended, in all requests that led to this one. */
static void forget(const request_rec *r, const admission_visit_t *visit)
{
    const request_rec *before = r;

    while ((before = admission_visit_parent(before))) {
        admission_request_t *state = admission_visit_request(before);

        if (state && state->visit == visit) {
            release_early(r, state);
        }
    }
}

static void leave_program(const request_rec *r, const admission_zone_t *zone,
                          admission_visit_t *visit)
{
    if (visit->zone != zone && atomic_load(&visit->ticket.held)
        && adm_program_was_announced(&visit->ticket)
        && admission_release_to_program(&visit->ticket, false)) {
        forget(r, visit);
    }
}

void admission_redirect_leave_programs(request_rec *r,
                                       const admission_zone_t *zone)
{
    const request_rec *root = admission_visit_root(r);
    const request_rec *prev;
    admission_visit_t *visit;

    for (prev = r->prev; prev; prev = prev->prev) {
        admission_request_t *state = admission_visit_request(prev);

        /* Only its own permit: the other belongs to a page that is not over. */
        if (state && state->zone && state->visit) {
            leave_program(r, zone, state->visit);
        }
    }
    for (visit = admission_visit_first(r->connection); visit;
         visit = visit->next) {
        if (visit->root == root && visit->lingers) {
            leave_program(r, zone, visit);
        }
    }
}
