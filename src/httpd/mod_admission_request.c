/* mod_admission_request.c - admit on the way in, release on every way out, the
 * rejection.
 */
#include <httpd.h>
#include <apr_hooks.h>
#include <apr_strings.h>
#include <http_connection.h>
#include <http_protocol.h>
#include <http_request.h>

#include "mod_admission_private.h"

APLOG_USE_MODULE(admission);

#define LOG_INTERVAL (60 * ADM_USEC_PER_SEC)

#define RETRY_MIN_SECONDS 1
#define RETRY_MAX_SECONDS 120

/* ---- what is known of a request -------------------------------------------------------- */

admission_request_t *admission_request_of(const request_rec *r)
{
    return ap_get_module_config(r->request_config, &admission_module);
}

/* Of this request: the one that made it by a subrequest or a redirect. */
static const request_rec *parent_of(const request_rec *r)
{
    return r->main ? r->main : r->prev;
}

admission_visit_t *admission_visits_of(const conn_rec *c)
{
    return ap_get_module_config(c->conn_config, &admission_module);
}

static int is_held(const admission_visit_t *visit)
{
    return visit && atomic_load(&visit->ticket.held);
}

admission_visit_t *admission_visit_of(const request_rec *r)
{
    for (; r; r = parent_of(r)) {
        admission_request_t *known = admission_request_of(r);

        if (known && is_held(known->visit)) {
            return known->visit;
        }
    }
    return NULL;
}

static const request_rec *root_of(const request_rec *r)
{
    while (parent_of(r)) {
        r = parent_of(r);
    }
    return r;
}

/* What the client's request holds already, in whichever of its parts: also a
 * part that has run, whose program has not ended yet. */
typedef struct kin_t {
    admission_visit_t *visit_of_zone; /* NULL: none in this zone */
    int holds_any;
    int was_rejected;         /* an ancestor: this is its error page */
    int was_rejected_by_zone; /* by this very zone */
} kin_t;

static kin_t kin_of(const request_rec *r, const admission_zone_t *zone)
{
    const request_rec *root = root_of(r);
    const request_rec *ancestor;
    admission_visit_t *visit;
    kin_t kin = { 0 };

    for (visit = admission_visits_of(r->connection); visit;
         visit = visit->next) {
        if (is_held(visit) && visit->root == root) {
            kin.holds_any = 1;
            if (visit->zone == zone) {
                kin.visit_of_zone = visit;
            }
        }
    }
    for (ancestor = parent_of(r); ancestor; ancestor = parent_of(ancestor)) {
        admission_request_t *known = admission_request_of(ancestor);

        if (known && known->was_rejected) {
            kin.was_rejected = 1;
            kin.was_rejected_by_zone |= known->zone == zone;
        }
    }
    return kin;
}

/* ---- visits ------------------------------------------------------------------------------- */

/* The connection ends: nothing of its requests can be left. */
static apr_status_t end_visit_with_connection(void *data)
{
    admission_visit_t *visit = data;

    admission_park_forget(visit);
    admission_release_after_request(&visit->ticket);
    return APR_SUCCESS;
}

/* One that ended, or a new one: as many as were held at once. Registered for
 * release before it is ever acquired. */
static admission_visit_t *find_visit(conn_rec *c)
{
    admission_visit_t *first = admission_visits_of(c);
    admission_visit_t *visit;

    for (visit = first; visit; visit = visit->next) {
        if (!is_held(visit)) {
            return visit;
        }
    }
    visit = apr_pcalloc(c->pool, sizeof(*visit));
    visit->next = first;
    ap_set_module_config(c->conn_config, &admission_module, visit);
    /* A process that is forked from this one holds nothing. */
    apr_pool_cleanup_register(c->pool, visit, end_visit_with_connection,
                              apr_pool_cleanup_null);
    return visit;
}

static admission_visit_t *make_visit(request_rec *r,
                                     const admission_zone_t *zone)
{
    admission_visit_t *visit = find_visit(r->connection);

    memset(&visit->ticket, 0, sizeof(visit->ticket));
    visit->zone = zone;
    visit->root = root_of(r);
    return visit;
}

/* ---- the rest of the handlers ------------------------------------------------------------- */

/* Run the handlers behind ours, as httpd would have done. Not ap_run_handler():
 * the ones before ours must not run twice. Never DECLINED: httpd would run them
 * again, then without a permit. */
static int run_handlers_behind(request_rec *r)
{
    apr_array_header_t *hooks = ap_hook_get_handler();
    ap_LINK_handler_t *hook = (ap_LINK_handler_t *)hooks->elts;
    int i, rv = DECLINED;

    for (i = 0; i < hooks->nelts && hook[i].pFunc != admission_handler; i++) {
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

/* ---- the rejection ---------------------------------------------------------------------------- */

static unsigned jitter(unsigned range)
{
    unsigned char byte;

    ap_random_insecure_bytes(&byte, 1);
    return range ? byte % (range + 1) : 0;
}

/* When the line will have drained, and a little more for some, so that not all
 * come back at once. */
static int estimate_retry(adm_usec_t drain)
{
    adm_usec_t seconds = drain / ADM_USEC_PER_SEC + RETRY_MIN_SECONDS;

    if (seconds > RETRY_MAX_SECONDS) {
        seconds = RETRY_MAX_SECONDS;
    }
    seconds += jitter((unsigned)seconds / 4 + 1);
    return seconds > RETRY_MAX_SECONDS ? RETRY_MAX_SECONDS : (int)seconds;
}

static void set_retry_after(request_rec *r, const admission_dir_conf_t *conf,
                            adm_usec_t drain)
{
    int seconds = conf->retry == ADMISSION_RETRY_FIXED ? conf->retry_seconds
                                                       : estimate_retry(drain);

    if (conf->retry != ADMISSION_RETRY_OFF) {
        const char *text = apr_itoa(r->pool, seconds);

        apr_table_setn(r->err_headers_out, "Retry-After", text);
        admission_note(r, ADMISSION_NOTE_RETRY_AFTER, text);
    }
}

/* Once a minute, zone and reason, whatever the number of children. */
static void log_rejection(request_rec *r, const admission_zone_t *zone,
                          adm_outcome_t outcome)
{
    adm_zone_stats_t stats;
    const uint64_t *so_far;
    adm_usec_t now = adm_now();

    ap_log_rerror(APLOG_MARK, APLOG_DEBUG, 0, r, ADMLOGNO(0201)
                  "zone %s: rejected, %s", zone->name,
                  adm_outcome_reason(outcome));
    if (!adm_zone_may_log(admission_segment(), zone->handle, outcome, now,
                          LOG_INTERVAL)
        || adm_view_zone(admission_child(), zone->handle, now, &stats, NULL)
               != APR_SUCCESS) {
        return;
    }
    so_far = stats.figures.outcomes;
    ap_log_rerror(APLOG_MARK, APLOG_WARNING, 0, r, ADMLOGNO(0202)
                  "zone %s: request rejected, %s (%u of %u active, %u of %u "
                  "queued; so far %" APR_UINT64_T_FMT " rejected full, "
                  "%" APR_UINT64_T_FMT " timeout, %" APR_UINT64_T_FMT
                  " reserve, %" APR_UINT64_T_FMT
                  " parking); not logged again for a minute",
                  zone->name, adm_outcome_reason(outcome), stats.active,
                  stats.limit, stats.queued, stats.queue_length,
                  so_far[ADM_FULL] + so_far[ADM_DRY_FULL], so_far[ADM_TIMEOUT],
                  so_far[ADM_RESERVE], so_far[ADM_PARKING]);
}

/* It will not run. The ErrorDocument sees the environment with REDIRECT_
 * before. */
static void mark_rejected(request_rec *r, adm_outcome_t outcome)
{
    admission_request_of(r)->was_rejected = 1;
    admission_note(r, ADMISSION_NOTE_STATUS, adm_outcome_name(outcome));
    admission_copy_notes(r->subprocess_env, r->notes);
}

static int reject(request_rec *r, const admission_dir_conf_t *conf,
                  adm_outcome_t outcome, adm_usec_t drain)
{
    set_retry_after(r, conf, drain);
    mark_rejected(r, outcome);
    log_rejection(r, admission_request_of(r)->zone, outcome);
    return admission_reject_status(conf);
}

/* Without an ErrorDocument: what it may need, such as mod_cgid's daemon, ends as
 * well, and the child would wait for it. */
static int end_with_child(request_rec *r)
{
    mark_rejected(r, ADM_STOPPED);
    r->connection->keepalive = AP_CONN_CLOSE;
    r->status = HTTP_SERVICE_UNAVAILABLE;
    return DONE;
}

/* Nobody reads the answer. The status is for the log: "client closed the
 * request", as other servers write it. */
static int give_up_client(request_rec *r)
{
    mark_rejected(r, ADM_GONE);
    r->connection->keepalive = AP_CONN_CLOSE;
    r->connection->aborted = 1;
    r->status = 499;
    return DONE;
}

/* ---- admission ---------------------------------------------------------------------------------- */

static void note_entered(request_rec *r, const admission_zone_t *zone,
                         uint32_t queued_ahead)
{
    admission_note(r, ADMISSION_NOTE_ZONE, zone->name);
    admission_note_number(r, ADMISSION_NOTE_QUEUED, queued_ahead);
    admission_note_number(r, ADMISSION_NOTE_WAIT_MS, 0);
}

static const char *reason_for_unlimited(apr_status_t rv)
{
    switch (rv) {
    case ADM_NO_CHILD:
        return "this child could not be registered";
    case ADM_NO_TICKET:
        return "the ticket table is full";
    case ADM_LOCK_LOST:
        return "its lock is beyond repair";
    case ADM_INTERRUPTED:
        return "its lock is held by the code that this request interrupted";
    case ADM_BAD_SEGMENT:
        return "somebody wrote into the shared memory";
    case ADM_ZONE_BUSY:
        return "its lock is held by a process that does not run";
    case ADM_ZONE_RETIRED:
        return "it was removed from the configuration";
    default:
        return "it has no place in the shared memory";
    }
}

/* A fault of ours must not take the site down. Not through the child, which may
 * have no place in the segment. */
static void note_unlimited(request_rec *r, const admission_zone_t *zone,
                           apr_status_t rv)
{
    adm_segment_t *segment = admission_segment();

    admission_note(r, ADMISSION_NOTE_STATUS, adm_outcome_name(ADM_UNLIMITED));
    adm_segment_count_unlimited(segment);
    if (adm_zone_may_log(segment, zone->handle, ADM_UNLIMITED, adm_now(),
                         LOG_INTERVAL)) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r, ADMLOGNO(0203)
                      "zone %s: %s, requests run without a limit; not logged "
                      "again for a minute",
                      zone->name, reason_for_unlimited(rv));
    }
}

static void leave_http2(admission_request_t *known)
{
    if (known->counts_for_http2) {
        known->counts_for_http2 = 0;
        admission_http2_leave();
    }
}

static void leave_without_permit(admission_request_t *known)
{
    known->visit = NULL;
    leave_http2(known);
}

static int run_with_permit(request_rec *r, admission_request_t *known)
{
    int rv;

    admission_export_token(r, &known->visit->ticket);
    rv = run_handlers_behind(r);
    if (admission_release_after_handler(r, &known->visit->ticket, rv)) {
        known->visit = NULL;
    }
    leave_http2(known);
    return rv;
}

/* What is done with a request once it is known what becomes of it. */
static int conclude(request_rec *r, const admission_dir_conf_t *conf,
                    admission_request_t *known, adm_outcome_t outcome)
{
    const adm_ticket_t *ticket = &known->visit->ticket;

    if (adm_outcome_action(outcome) == ADM_RUN) {
        admission_note(r, ADMISSION_NOTE_STATUS, adm_outcome_name(outcome));
        return run_with_permit(r, known);
    }
    leave_without_permit(known);
    switch (outcome) {
    case ADM_UNLIMITED:
        note_unlimited(r, known->zone, ticket->fault);
        return run_handlers_behind(r);
    case ADM_GONE:
        return give_up_client(r);
    case ADM_STOPPED:
        return end_with_child(r);
    default:
        return reject(r, conf, outcome, ticket->drain_usec);
    }
}

int admission_after_wait(request_rec *r, adm_outcome_t outcome,
                         adm_usec_t began)
{
    const admission_dir_conf_t *conf = ap_get_module_config(r->per_dir_config,
                                                            &admission_module);

    admission_note_number(r, ADMISSION_NOTE_WAIT_MS,
                          (adm_now() - began) / ADM_USEC_PER_MSEC);
    return conclude(r, conf, admission_request_of(r), outcome);
}

static int wait_and_run(request_rec *r, const admission_dir_conf_t *conf,
                        admission_request_t *known, int may_park)
{
    adm_ticket_t *ticket = &known->visit->ticket;
    adm_usec_t began = adm_now();
    adm_usec_t deadline = began + admission_queue_timeout(conf);

    if (may_park) {
        if (admission_park(r, known->visit, deadline) == SUSPENDED) {
            return SUSPENDED;
        }
        adm_outcome_t outcome = adm_ticket_block(ticket, began);

        if (outcome != ADM_WAITING) {
            return admission_after_wait(r, outcome, began);
        }
    }
    return admission_after_wait(r, admission_block(r, ticket, deadline), began);
}

static adm_entry_t entry_of(request_rec *r, const admission_dir_conf_t *conf,
                            const kin_t *kin, admission_request_t *known)
{
    adm_entry_t entry = { .queue_length = (uint32_t)admission_queue_length(
                              conf),
                          .dry_run = admission_is_dry_run(conf) };

    if (kin->holds_any) {
        /* Whoever holds a permit must not wait for another one; and its worker
         * is counted already. */
        return entry;
    }
    if (!r->connection->master) {
        entry.worker = ADM_WORKER_ONE;
        entry.wait = admission_may_park(r) ? ADM_WAIT_PARKED : ADM_WAIT_BLOCKED;
    }
    else {
        known->counts_for_http2 = admission_http2_enter();
        entry.worker = known->counts_for_http2 ? ADM_WORKER_NONE
                                               : ADM_WORKER_DENIED;
        entry.wait = ADM_WAIT_BLOCKED;
    }
    if (kin->was_rejected) {
        /* The error page for a full zone must not join its line. */
        entry.wait = ADM_WAIT_NEVER;
    }
    return entry;
}

static int admit(request_rec *r, const admission_dir_conf_t *conf,
                 admission_zone_t *zone, const kin_t *kin)
{
    admission_request_t *known = apr_pcalloc(r->pool, sizeof(*known));
    adm_entry_t entry = entry_of(r, conf, kin, known);
    adm_outcome_t outcome;

    known->zone = zone;
    known->visit = make_visit(r, zone);
    ap_set_module_config(r->request_config, &admission_module, known);
    outcome = adm_ticket_enter(admission_child(), zone->handle, &entry,
                               adm_now(), &known->visit->ticket);
    note_entered(r, zone, known->visit->ticket.queued_ahead);
    if (outcome == ADM_WAITING) {
        return wait_and_run(r, conf, known, entry.wait == ADM_WAIT_PARKED);
    }
    return conclude(r, conf, known, outcome);
}

/* Handlers that only find out which request is meant, and run that. */
static int is_detour(request_rec *r)
{
    if (strcmp(r->handler, "redirect-handler") == 0) {
        /* Else it is no redirect of mod_rewrite, but a file whose handler
         * somebody has called so. */
        return r->filename && strncmp(r->filename, "redirect:", 9) == 0;
    }
    /* A type map can have the page itself in it. */
    return (strcmp(r->handler, "type-map") == 0
            || strcmp(r->handler, "application/x-type-map") == 0)
           && !admission_may_exec(r);
}

static int is_exempt(request_rec *r, const admission_dir_conf_t *conf,
                     const admission_zone_t *zone)
{
    const char *error = NULL;
    int rv;

    if (!conf->exempt) {
        return 0;
    }
    rv = ap_expr_exec(r, conf->exempt, &error);
    if (rv < 0
        && adm_zone_may_log(admission_segment(), zone->handle, ADM_EXEMPT,
                            adm_now(), LOG_INTERVAL)) {
        ap_log_rerror(
            APLOG_MARK, APLOG_ERR, 0, r, ADMLOGNO(0204)
            "zone %s: AdmissionExempt could not be evaluated, the "
            "request is not exempt: %s; not logged again for a minute",
            zone->name, error);
    }
    return rv > 0;
}

/* The permit that another part of the request holds serves this one, too. */
static void be_guest_of(request_rec *r, admission_visit_t *visit)
{
    admission_request_t *known = apr_pcalloc(r->pool, sizeof(*known));

    known->visit = visit;
    ap_set_module_config(r->request_config, &admission_module, known);
}

int admission_handler(request_rec *r)
{
    const admission_dir_conf_t *conf = ap_get_module_config(r->per_dir_config,
                                                            &admission_module);
    admission_zone_t *zone = admission_zone_of(conf);
    kin_t kin;

    if (!zone || is_detour(r) || !admission_counts(conf, r)) {
        return DECLINED;
    }
    if (!admission_child()) {
        note_entered(r, zone, 0);
        note_unlimited(r, zone, ADM_NO_CHILD);
        return DECLINED;
    }
    if (is_exempt(r, conf, zone)) {
        admission_note(r, ADMISSION_NOTE_ZONE, zone->name);
        admission_note(r, ADMISSION_NOTE_STATUS, adm_outcome_name(ADM_EXEMPT));
        adm_zone_count_exempt(admission_child(), zone->handle);
        return DECLINED;
    }
    kin = kin_of(r, zone);
    if (kin.visit_of_zone) {
        be_guest_of(r, kin.visit_of_zone);
        return DECLINED;
    }
    if (kin.was_rejected_by_zone) {
        /* Rejected and counted once: httpd's own text takes the place of the
         * error page. */
        return admission_reject_status(conf);
    }
    return admit(r, conf, zone, &kin);
}
