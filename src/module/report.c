/* report.c - report the decision about a request: notes, headers, error log. */
#include <httpd.h>
#include <apr_strings.h>
#include <http_log.h>

#include "nested/nested_proxied.h"
#include "report.h"
#include "url.h"
#include "visit.h"
#include "process.h"

APLOG_USE_MODULE(admission);

#define RETRY_MIN_SECONDS 1
#define RETRY_MAX_SECONDS 120

/* ---- notes --------------------------------------------------------------- */

#define NOTE_STATUS "ADMISSION_STATUS"
#define NOTE_WAIT_MS "ADMISSION_WAIT_MS"
#define NOTE_ZONE "ADMISSION_ZONE"
#define NOTE_QUEUED "ADMISSION_QUEUED"
#define NOTE_RETRY_AFTER "ADMISSION_RETRY_AFTER"

static const char *const note_names[] = { NOTE_STATUS, NOTE_WAIT_MS, NOTE_ZONE,
                                          NOTE_QUEUED, NOTE_RETRY_AFTER };

static void note(request_rec *r, const char *name, const char *value)
{
    apr_table_setn(r->notes, name, value);
}

static void note_number(request_rec *r, const char *name, apr_int64_t number)
{
    note(r, name, apr_psprintf(r->pool, "%" APR_INT64_T_FMT, number));
}

/* Replace the notes in @a to with those in @a from. @a to can also be an
 * environment. */
static void copy_notes(apr_table_t *to, const apr_table_t *from)
{
    size_t i;

    for (i = 0; i < sizeof(note_names) / sizeof(*note_names); i++) {
        const char *value = apr_table_get(from, note_names[i]);

        if (value) {
            apr_table_setn(to, note_names[i], value);
        }
        else {
            apr_table_unset(to, note_names[i]);
        }
    }
}

static void note_decision(request_rec *r, const admission_request_t *state)
{
    note(r, NOTE_STATUS, adm_outcome_name(state->outcome));
    note(r, NOTE_ZONE, state->zone->name);
    if (state->outcome != ADM_EXEMPT) {
        note_number(r, NOTE_QUEUED,
                    state->visit ? state->visit->ticket.queued_ahead : 0);
        note_number(r, NOTE_WAIT_MS, state->waited_usec / ADM_USEC_PER_MSEC);
    }
}

/* ---- Retry-After --------------------------------------------------------- */

/* Seconds until the queue has drained, plus a random part of up to a quarter,
 * so that the clients do not all retry at the same time. */
static int estimate_retry(adm_usec_t drain)
{
    adm_usec_t seconds = drain / ADM_USEC_PER_SEC + RETRY_MIN_SECONDS;

    if (seconds > RETRY_MAX_SECONDS) {
        seconds = RETRY_MAX_SECONDS;
    }
    seconds += ap_random_pick(0, (apr_uint32_t)seconds / 4 + 1);
    return seconds > RETRY_MAX_SECONDS ? RETRY_MAX_SECONDS : (int)seconds;
}

static void set_retry_after(request_rec *r, adm_usec_t drain)
{
    const admission_dir_conf_t *conf = admission_url_conf(r);
    int seconds = conf->retry > 0 ? conf->retry : estimate_retry(drain);

    if (conf->retry != ADMISSION_RETRY_OFF) {
        const char *text = apr_itoa(r->pool, seconds);

        apr_table_setn(r->err_headers_out, "Retry-After", text);
        note(r, NOTE_RETRY_AFTER, text);
    }
}

/* ---- the error log ------------------------------------------------------- */

/* List the number of rejections by outcome, including those that a dry run
 * would have made: "full 3, timeout 0, ...". */
static const char *list_rejections(apr_pool_t *p, const adm_figures_t *figures)
{
    const char *list = "";
    int i;

    for (i = 0; i < ADM_OUTCOMES; i++) {
        adm_outcome_t outcome = (adm_outcome_t)i;
        uint64_t count = figures->outcomes[i];

        if (adm_outcome_action(outcome) == ADM_REJECT) {
            count += outcome == ADM_FULL   ? figures->outcomes[ADM_DRY_FULL]
                     : outcome == ADM_LATE ? figures->outcomes[ADM_DRY_LATE]
                                           : 0;
            list = apr_psprintf(p, "%s%s%s %" APR_UINT64_T_FMT, list,
                                *list ? ", " : "", adm_outcome_name(outcome),
                                count);
        }
    }
    return list;
}

/* The zone's current numbers and total rejections, for the log. */
static const char *numbers_of(request_rec *r, const admission_zone_t *zone,
                              adm_usec_t now)
{
    adm_zone_stats_t stats;

    if (adm_view_zone(admission_process_child(), zone->handle, now, &stats,
                      NULL)
        != APR_SUCCESS) {
        return "no numbers, as the zone is locked";
    }
    return apr_psprintf(
        r->pool, "%u of %u active, %u of %u queued; total rejections: %s",
        stats.active, stats.limit, stats.queued, stats.queue_length,
        list_rejections(r->pool, &stats.figures));
}

/* A warning once per minute, zone and reason, across all children; a debug
 * message for each request. */
static void log_rejection(request_rec *r, const admission_request_t *state)
{
    const admission_zone_t *zone = state->zone;
    bool lacks_worker = state->outcome == ADM_RESERVE
                        || state->outcome == ADM_PARKING;
    const char *reason = lacks_worker && state->why_denied
                             ? state->why_denied
                             : adm_outcome_reason(state->outcome);
    adm_usec_t now = adm_now();

    ap_log_rerror(APLOG_MARK, APLOG_DEBUG, 0, r, ADMLOGNO(0201)
                  "zone %s: request rejected (%s): %s", zone->name,
                  adm_outcome_name(state->outcome), reason);
    if (admission_process_may_log(zone->handle, state->outcome)) {
        ap_log_rerror(APLOG_MARK, APLOG_WARNING, 0, r, ADMLOGNO(0202)
                      "zone %s: request rejected (%s): %s; %s; further "
                      "rejections are not logged for 1 minute",
                      zone->name, adm_outcome_name(state->outcome), reason,
                      numbers_of(r, zone, now));
    }
}

/* Warn of a local filter that drops the header Admission-Ticket
 * (nested_proxied.c), so that requests wait for each other. Uses the log
 * interval of ADM_WAITED, which no other message uses. */
static void log_mutual_wait(request_rec *r, const admission_zone_t *zone)
{
    if (admission_proxied_is_awaited(r, zone)
        && admission_process_may_log(zone->handle, ADM_WAITED)) {
        ap_log_rerror(APLOG_MARK, APLOG_WARNING, 0, r, ADMLOGNO(0215)
                      "zone %s: request from a loopback address rejected: all "
                      "permits are held by requests of another virtual host "
                      "that are proxied to a loopback address; if a filter "
                      "forwards those requests to this server, both wait for "
                      "each other: let the filter forward the header "
                      "Admission-Ticket, or set the limit in only one of the "
                      "two virtual hosts; not logged again for 1 minute",
                      zone->name);
    }
}

static const char *reason_for_unlimited(apr_status_t rv)
{
    switch (rv) {
    case ADM_NO_CHILD:
        return "this child is not registered";
    case APR_EACCES:
        return "this child can become another user";
    case ADM_NO_TICKET:
        return "the ticket table is full";
    case ADM_LOCK_LOST:
        return "its lock cannot be repaired";
    case ADM_INTERRUPTED:
        return "its lock is held by the code that this request interrupted";
    case ADM_BAD_SEGMENT:
        return "the shared memory is corrupt";
    case ADM_ZONE_BUSY:
        return "its lock is held by a stopped process";
    case ADM_ZONE_RETIRED:
        return "it was removed from the configuration";
    default:
        return "it has no record in the shared memory";
    }
}

/* Count and log a request that runs without a limit because of a fault. Uses
 * the segment, because the child might not be registered. */
static void log_unlimited(request_rec *r, const admission_request_t *state)
{
    adm_segment_t *segment = admission_process_segment();

    adm_segment_count_unlimited(segment);
    if (admission_process_may_log(state->zone->handle, ADM_UNLIMITED)) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r, ADMLOGNO(0203)
                      "zone %s: %s; its requests run without a limit; not "
                      "logged again for 1 minute",
                      state->zone->name,
                      reason_for_unlimited(state->visit
                                               ? state->visit->ticket.fault
                                               : admission_process_fault()));
    }
}

/* ---- report -------------------------------------------------------------- */

/* Mark a request that will not run. Its ErrorDocument sees the environment with
 * the prefix REDIRECT_. */
static void mark_rejected(request_rec *r, admission_request_t *state)
{
    state->was_rejected = true;
    copy_notes(r->subprocess_env, r->notes);
}

void admission_report(request_rec *r)
{
    admission_request_t *state = admission_visit_request(r);

    note_decision(r, state);
    switch (adm_outcome_action(state->outcome)) {
    case ADM_RUN:
        break;
    case ADM_RUN_FREE:
        if (state->outcome == ADM_UNLIMITED) {
            log_unlimited(r, state);
        }
        break;
    case ADM_REJECT:
        set_retry_after(r, state->visit->ticket.drain_usec);
        mark_rejected(r, state);
        log_rejection(r, state);
        if (state->outcome == ADM_TIMEOUT) {
            log_mutual_wait(r, state->zone);
        }
        break;
    case ADM_DROP_CONNECTION:
        mark_rejected(r, state);
        break;
    }
}

/* ---- the access log ------------------------------------------------------ */

/* Importance of the decision about one request of a redirect chain: a
 * rejection, then a wait, then any other decision. */
static int importance_of(const request_rec *r)
{
    const admission_request_t *state = admission_visit_request(r);
    const char *status = apr_table_get(r->notes, NOTE_STATUS);

    if (!status) {
        return 0;
    }
    if (state && state->was_rejected) {
        return 3;
    }
    return strcmp(status, adm_outcome_name(ADM_WAITED)) == 0 ? 2 : 1;
}

/* The access log shows the notes of the last request in a chain of internal
 * redirects. The decision can be in an earlier one, or in several: a rejected
 * request can have an admitted error page. */
int admission_report_log_transaction(request_rec *r)
{
    request_rec *last = r;
    request_rec *logged = r;

    if (!r->next) {
        return DECLINED;
    }
    for (; r; r = r->next) {
        last = r;
        if (r != logged && importance_of(r) > importance_of(logged)) {
            logged = r;
        }
    }
    if (logged != last) {
        copy_notes(last->notes, logged->notes);
    }
    return DECLINED;
}
