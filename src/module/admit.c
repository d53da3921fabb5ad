/* admit.c - the handler hook.
 *
 * Decides whether the request counts (handle_in_zone), lets the capabilities
 * prepare it, enters the zone and waits (enter_and_run). Then admission_run()
 * acts on the decision: it runs the remaining handlers or rejects the request.
 */
#include <httpd.h>
#include <apr_strings.h>
#include <scoreboard.h>

#include "part.h"
#include "page_handler.h"
#include "admit.h"
#include "countable.h"
#include "nested/nested_redirect.h"
#include "http2/http2.h"
#include "fair/fair_key.h"
#include "park/park.h"
#include "program.h"
#include "park/park_resume.h"
#include "run.h"
#include "nested/nested_proxied.h"
#include "url.h"
#include "visit.h"
#include "wait.h"
#include "process.h"

/* Reason for a rejected request, and the remedy. */
#define HOPS APR_STRINGIFY(ADMISSION_PROXIED_HOPS_MAX)
#define ENDLESS                                                              \
    "this server has sent it to itself " HOPS " times, each time occupying " \
    "a worker; check ProxyPass for a loop"

/* ---- who it is ----------------------------------------------------------- */

#define DOTS "..."

static bool is_inside_character(const char *text, apr_size_t at)
{
    return ((unsigned char)text[at] & 0xc0) == 0x80;
}

static bool is_inside_escape(const char *text, apr_size_t at)
{
    return text[at - 1] == '%' || text[at - 2] == '%';
}

/* Copy a text and end it with dots if it is too long, without cutting a UTF-8
 * character or a percent escape. */
static void copy_text(char *to, apr_size_t room, const char *from)
{
    apr_size_t end = room - sizeof(DOTS), least = end - 4;

    if (strlen(from) < room) {
        apr_cpystrn(to, from, room);
        return;
    }
    while (end > least
           && (is_inside_character(from, end) || is_inside_escape(from, end))) {
        end--;
    }
    memcpy(to, from, end);
    memcpy(to + end, DOTS, sizeof(DOTS));
}

#define COPY(field, text) copy_text(who.field, sizeof(who.field), text)

/* Record the client, method, host and URL of the client's request, not of a
 * subrequest, for the status pages, as mod_status does. Does nothing unless
 * ExtendedStatus is On. */
static void note_who(request_rec *r, const adm_ticket_t *ticket)
{
    const request_rec *asked = admission_visit_root(r);
    adm_who_t who = { .uri = "" };

    if (!ap_extended_status) {
        return;
    }
    COPY(client, asked->useragent_ip);
    COPY(method, asked->method);
    COPY(host,
         asked->hostname ? asked->hostname : asked->server->server_hostname);
    COPY(uri, asked->unparsed_uri ? asked->unparsed_uri : "");
    adm_who_note(ticket, &who);
}

/* ---- decide -------------------------------------------------------------- */

/* A request that enters a zone, and the settings that it enters with. */
typedef struct entrant_t {
    request_rec *r;
    const admission_dir_conf_t *conf;
    adm_child_t *child;
    admission_related_t related;
    const admission_target_t *target; /* target of the redirect on whose behalf
                                       * it enters; NULL: its own */
} entrant_t;

/* @return how the request enters: whether it may wait, in which way, and
 * whether a worker is counted for it. */
static adm_entry_t entry_of(const entrant_t *entrant, admission_proxied_t claim,
                            admission_request_t *state)
{
    request_rec *r = entrant->r;
    adm_entry_t entry = {
        .queue_length = (uint32_t)admission_conf_queue(entrant->conf)->length,
        .target_usec = admission_conf_queue(entrant->conf)->target,
        .dry_run = admission_conf_is_dry_run(entrant->conf)
    };

    if (entrant->related.holds_any || claim == ADMISSION_PROXIED_PART) {
        /* A request with a permit must not wait for a second one. Its worker is
         * already counted. */
        return entry;
    }
    if (claim == ADMISSION_PROXIED_ENDLESS) {
        entry.worker = ADM_WORKER_DENIED;
        entry.wait = ADM_WAIT_BLOCKED;
        state->why_denied = ENDLESS;
    }
    else if (!r->connection->master) {
        entry.worker = ADM_WORKER_ONE;
        entry.wait = admission_resume_is_possible(r) ? ADM_WAIT_PARKED
                                                     : ADM_WAIT_BLOCKED;
    }
    else {
        entry.worker = admission_http2_enter(r, state);
        entry.wait = ADM_WAIT_BLOCKED;
    }
    if (entrant->related.was_rejected) {
        /* The error page for a full zone must not join its queue. */
        entry.wait = ADM_WAIT_NEVER;
    }
    return entry;
}

/* Evaluate key, priority and cost. Their expressions see the client's URL, but
 * the file and the handler that the URL leads to. */
static void evaluate_key(const entrant_t *entrant, const admission_zone_t *zone,
                         adm_entry_t *entry)
{
    request_rec *r = entrant->r;
    request_rec *view = admission_url_view(r, admission_url_asked(r));

    if (entrant->target) {
        view->filename = entrant->target->filename;
        view->handler = entrant->target->handler;
    }
    admission_key_ask(view, entrant->conf, zone, entry);
    r->log_id = view->log_id; /* set if an error was logged */
}

/* Enter the zone. If the outcome is ADM_WAITING, the ticket is in the queue and
 * @a how is the way that it waits. */
static admission_request_t *enter(const entrant_t *entrant,
                                  const admission_zone_t *zone, adm_wait_t *how)
{
    request_rec *r = entrant->r;
    admission_request_t *state = admission_visit_note(r, zone);
    admission_proxied_t claim;
    adm_ticket_t *ticket;
    adm_entry_t entry;

    state->enters_for_target = entrant->target != NULL;
    state->visit = admission_visit_make(r, zone);
    ticket = &state->visit->ticket;
    claim = admission_proxied_claim(r, zone, ticket);
    if (claim == ADMISSION_PROXIED_SUCCESSOR) {
        note_who(r, ticket);
        state->outcome = ADM_ADMITTED;
        return state;
    }
    entry = entry_of(entrant, claim, state);
    if (zone->uses_flows) {
        evaluate_key(entrant, zone, &entry);
    }
    state->outcome = adm_ticket_enter(entrant->child, zone->handle, &entry,
                                      adm_now(), ticket);
    if (atomic_load(&ticket->held)) {
        note_who(r, ticket);
    }
    *how = entry.wait;
    return state;
}

/* ---- wait ---------------------------------------------------------------- */

/* Wait, parked or blocked. @return OK: the wait is over, and the decision is in
 * @a state; SUSPENDED: parked, park.c continues the request. */
static int wait_for_permit(request_rec *r, const admission_dir_conf_t *conf,
                           adm_wait_t how, admission_request_t *state)
{
    admission_visit_t *visit = state->visit;
    adm_usec_t began = adm_now();
    adm_usec_t deadline = began + admission_conf_queue(conf)->timeout;
    adm_outcome_t outcome = ADM_WAITING;

    if (how == ADM_WAIT_PARKED) {
        if (admission_park(r, visit, deadline) == SUSPENDED) {
            return SUSPENDED;
        }
        outcome = adm_ticket_block(&visit->ticket, began);
    }
    if (outcome == ADM_WAITING) {
        outcome = admission_block(r, &visit->ticket, deadline);
    }
    admission_wait_end(r, outcome, began);
    return OK;
}

/* ---- the hook ------------------------------------------------------------ */

/* Let each capability prepare the request, for example read its body. @return
 * OK, or what enter_and_run() must return. */
static int prepare(const entrant_t *entrant)
{
    int i, rv = OK;

    for (i = 0; i < ADMISSION_PARTS_NUMBER && rv == OK; i++) {
        if (admission_parts[i]->before) {
            rv = admission_parts[i]->before(entrant->r, entrant->conf,
                                            admission_admit);
        }
    }
    return rv;
}

/* Prepare the request, enter the zone, wait, and act on the decision. @return
 * what a handler returns; SUSPENDED: parked, park.c continues the request. */
static int enter_and_run(const entrant_t *entrant)
{
    const admission_zone_t *zone = admission_conf_zone(entrant->conf);
    adm_wait_t how = ADM_WAIT_NEVER;
    admission_request_t *state;

    ap_assert(zone); /* checked by the callers */
    if (!entrant->related.holds_any && !entrant->related.was_rejected) {
        int rv = prepare(entrant);

        if (rv != OK) {
            return rv;
        }
    }
    state = enter(entrant, zone, &how);
    if (state->outcome == ADM_WAITING
        && wait_for_permit(entrant->r, entrant->conf, how, state)
               == SUSPENDED) {
        return SUSPENDED;
    }
    return admission_run(entrant->r);
}

/* @return whether the URL is one of the module's pages. A site's rewrite rule
 * for all URLs would hide it, so the handler that the configuration sets for
 * the URL is restored, for the handler hooks that follow. */
static bool restore_page_handler(request_rec *r)
{
    const char *handler = admission_countable_is_rewritten(r)
                              ? admission_page_handler_of(r)
                              : NULL;

    if (handler) {
        r->handler = handler;
    }
    return handler != NULL;
}

/* Enter the zone of the URL to which httpd is about to redirect the request,
 * which itself does not count: only now can the request still be parked. */
ADMISSION_NOT_INLINED static int enter_for_target(request_rec *r)
{
    admission_target_t target;
    entrant_t entrant = { .r = r, .conf = &target.conf, .target = &target };

    if (restore_page_handler(r) || !admission_redirect_target(r, &target)) {
        return DECLINED;
    }
    entrant.child = admission_process_child();
    return enter_and_run(&entrant);
}

static inline int enter_if_redirected(request_rec *r,
                                      const admission_dir_conf_t *conf)
{
    if (r->prev || r->main) {
        admission_redirect_leave_programs(r, NULL);
    }
    return admission_redirect_is_possible(r, conf) ? enter_for_target(r)
                                                   : DECLINED;
}

/* Enter the zone, unless a related request holds a permit of the zone or was
 * rejected by it. */
static int enter_for_itself(request_rec *r, const admission_dir_conf_t *conf,
                            adm_child_t *child)
{
    const admission_zone_t *zone = admission_conf_zone(conf);
    entrant_t entrant = { .r = r,
                          .conf = conf,
                          .child = child,
                          .related = admission_visit_related(r, zone) };

    if (entrant.related.visit_of_zone) {
        admission_visit_t *shared = entrant.related.visit_of_zone;

        admission_visit_note(r, NULL)->visit = shared;
        admission_program_export_token(r, &shared->ticket);
        return DECLINED;
    }
    if (entrant.related.was_rejected_by_zone) {
        /* The zone has already rejected this client and counted it. Send
         * httpd's built-in error text instead of the error page. */
        return admission_conf_reject_status(conf);
    }
    if (entrant.related.holds_any) {
        admission_redirect_leave_programs(r, zone);
        entrant.related = admission_visit_related(r, zone);
    }
    return enter_and_run(&entrant);
}

/* Run the request without entering its zone. */
static int run_without_permit(request_rec *r, const admission_zone_t *zone,
                              adm_outcome_t outcome)
{
    admission_visit_note(r, zone)->outcome = outcome;
    return admission_run(r);
}

ADMISSION_NOT_INLINED static int
handle_in_zone(request_rec *r, const admission_dir_conf_t *conf)
{
    const admission_zone_t *zone = admission_conf_zone(conf);
    adm_child_t *child;
    bool is_exempt;

    if (admission_countable_only_redirects(r) || !admission_counts(conf, r)) {
        return enter_if_redirected(r, conf);
    }
    is_exempt = admission_url_is_exempt(r, admission_url_asked(r), conf);
    child = admission_process_child();
    if ((is_exempt || !child) && (r->prev || r->main)) {
        admission_redirect_leave_programs(r, NULL);
    }
    if (!child) {
        return run_without_permit(r, zone, ADM_UNLIMITED);
    }
    if (is_exempt) {
        adm_zone_count_exempt(child, zone->handle);
        return run_without_permit(r, zone, ADM_EXEMPT);
    }
    if (r->prev && admission_redirect_take_over(r, zone)) {
        return admission_run(r);
    }
    return enter_for_itself(r, conf, child);
}

/* The configuration that applies to a request. A file that mod_include includes
 * from another directory has no URI, so no <Location> applies to it: the
 * configuration of the including page does. */
static const admission_dir_conf_t *conf_of(request_rec *r)
{
    const admission_dir_conf_t *conf = admission_url_conf(r);

    while (r->main && !conf->section && r->uri[0] == '\0') {
        r = r->main;
        conf = admission_url_conf(r);
    }
    return conf;
}

/* The hot path: most requests are in no zone and leave after a few
 * instructions. */
int admission_admit(request_rec *r)
{
    const admission_dir_conf_t *conf = conf_of(r);

    return admission_conf_zone(conf) ? handle_in_zone(r, conf)
                                     : enter_if_redirected(r, conf);
}
