/* mod_admission_park.c - wait for a permit without a worker (event MPM).
 *
 * The MPM can wait for a connection's socket without a worker
 * (CONN_STATE_ASYNC_WAITIO) and then calls process_connection again:
 *
 *   handler hook        in line: enter the lot, return SUSPENDED
 *   process_connection  SUSPENDED -> ASYNC_WAITIO
 *   suspend_connection  swap out: the MPM polls the lot's epoll set
 *   dispatcher          granted, too late, or a look is due: make it readable
 *   resume_connection   swap in: the socket is itself again
 *   process_connection  run the handler, or say why not, or park again
 *
 * docs/architecture.md has the picture, docs/decisions the ways that fail.
 */
#include <httpd.h>
#include <sys/resource.h>

#include <apr_hooks.h>
#include <ap_mpm.h>
#include <http_connection.h>
#include <http_core.h>
#include <http_protocol.h>
#include <http_request.h>

#include "mod_admission_lot.h"

APLOG_USE_MODULE(admission);

#if defined(AP_MPMQ_CAN_WAITIO) && defined(__linux__)

static int server_parks; /* set in the parent, for all children */

/* ---- park ------------------------------------------------------------------------------- */

int admission_may_park(request_rec *r)
{
    conn_rec *c = r->connection;

    /* Others run below somebody who cannot be suspended, or on a connection
     * that the MPM does not poll. */
    return server_parks && c->cs && !c->master && !c->clogging_input_filters
           && !r->main && !r->prev && admission_lot_is_open(admission_child());
}

/* The MPM closes a connection that waits for longer than Timeout, of one server
 * or the other; and whoever is woken may still have to wait for a worker. */
static adm_usec_t patience_of(const request_rec *r)
{
    apr_interval_time_t own = r->server->timeout;
    apr_interval_time_t base = r->connection->base_server->timeout;

    return (own < base ? own : base) / 2;
}

int admission_park(request_rec *r, admission_visit_t *visit,
                   adm_usec_t deadline)
{
    conn_rec *c = r->connection;

    if (!visit->parking) {
        visit->parking = apr_palloc(c->pool, sizeof(*visit->parking));
    }
    *visit->parking = (admission_parking_t){ .c = c,
                                             .r = r,
                                             .handler = r->handler,
                                             .began = adm_now(),
                                             .deadline = deadline,
                                             .socket = -1,
                                             .epoll = -1 };
    return admission_lot_enter(visit, patience_of(r)) ? SUSPENDED : DECLINED;
}

void admission_park_forget(admission_visit_t *visit)
{
    if (visit->parking) {
        admission_lot_leave(visit->parking);
    }
}

/* ---- the MPM's suspend and resume --------------------------------------------------------- */

static admission_visit_t *visit_in_state(const conn_rec *c,
                                         admission_parked_t state)
{
    admission_visit_t *visit = server_parks ? admission_visits_of(c) : NULL;

    while (visit && !(visit->parking && visit->parking->state == state)) {
        visit = visit->next;
    }
    return visit;
}

void admission_suspend_connection(conn_rec *c, request_rec *r)
{
    admission_visit_t *visit = visit_in_state(c, ADMISSION_LEAVING);

    (void)r;
    if (visit) {
        admission_lot_swap_out(visit->parking);
    }
}

/* No worker came in time, and the MPM wants to close the connection: answer at
 * least. There is no scoreboard handle where the connection is gone already. */
static void claim_last_chance(admission_parking_t *parking, conn_rec *c)
{
    if (c->cs->state == CONN_STATE_LINGER && c->sbh) {
        parking->is_last_chance = 1;
        c->keepalive = AP_CONN_CLOSE;
        c->cs->state = CONN_STATE_PROCESSING;
    }
}

void admission_resume_connection(conn_rec *c, request_rec *r)
{
    admission_visit_t *visit = visit_in_state(c, ADMISSION_PARKED);

    (void)r;
    if (visit) {
        admission_lot_swap_in(visit->parking);
        adm_ticket_unpark(&visit->ticket);
        claim_last_chance(visit->parking, c);
    }
}

/* ---- go on -------------------------------------------------------------------------------- */

static int run_connection_hooks_behind(conn_rec *c)
{
    apr_array_header_t *hooks = ap_hook_get_process_connection();
    ap_LINK_process_connection_t *hook = (ap_LINK_process_connection_t *)
                                             hooks->elts;
    int i, rv = DECLINED;

    for (i = 0;
         i < hooks->nelts && hook[i].pFunc != admission_process_connection;
         i++) {
    }
    for (i++; i < hooks->nelts && rv == DECLINED; i++) {
        rv = hook[i].pFunc(c);
    }
    return rv;
}

static int wait_for_wake_up(conn_rec *c)
{
    c->cs->state = CONN_STATE_ASYNC_WAITIO;
    c->cs->sense = CONN_SENSE_WANT_READ;
    return OK;
}

/* What ap_invoke_handler() does behind a handler; its filters are in place. */
static int checked_result(request_rec *r, int rv)
{
    if (rv == DECLINED) {
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    if (rv != OK && rv != DONE && rv != AP_FILTER_ERROR
        && !ap_is_HTTP_VALID_RESPONSE(rv)) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r, ADMLOGNO(0301)
                      "Handler for %s returned invalid result code %d",
                      r->handler, rv);
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    return rv;
}

static int run_handler(request_rec *r, const admission_parking_t *parking,
                       admission_outcome_t outcome)
{
    const char *old_handler = r->handler;
    int rv;

    apr_thread_mutex_lock(r->invoke_mtx);
    r->handler = parking->handler;
    rv = checked_result(r, admission_after_wait(r, outcome, parking->began));
    r->handler = old_handler;
    apr_thread_mutex_unlock(r->invoke_mtx);
    return rv;
}

/* What ap_process_async_request() does around and behind a handler. */
static void finish_request(const admission_parking_t *parking,
                           admission_outcome_t outcome)
{
    request_rec *r = parking->r;
    conn_rec *c = parking->c;
    int rv;

    c->cs->state = CONN_STATE_HANDLER;
    ap_update_child_status(c->sbh, SERVER_BUSY_WRITE, r);
    if (ap_extended_status) {
        ap_time_process_request(c->sbh, START_PREQUEST);
    }
    rv = run_handler(r, parking, outcome);
    if (rv != OK && rv != DONE) {
        r->status = HTTP_OK; /* of the first error */
    }
    ap_die(rv, r);
    ap_process_request_after_handler(r);
}

/* How the wait has ended. The client is asked first: nothing is started for
 * nobody. @return whether it has. */
static int has_ended(admission_visit_t *visit, admission_outcome_t *outcome)
{
    const admission_parking_t *parking = visit->parking;
    adm_ticket_t *ticket = &visit->ticket;
    adm_usec_t now = adm_now();

    *outcome = ADMISSION_GRANTED;
    if (admission_client_has_gone(parking->c)) {
        adm_ticket_cancel(ticket, ADM_REASON_GONE, now);
        *outcome = ADMISSION_GONE;
    }
    else if (adm_ticket_is_granted(ticket)) {
        return 1;
    }
    else if (adm_child_is_stopping(ticket->child)) {
        adm_ticket_cancel(ticket, ADM_REASON_STOPPING, now);
        *outcome = ADMISSION_STOPPING;
    }
    else if (adm_ticket_is_stuck(ticket, now)) {
        if (adm_ticket_cancel(ticket, ADM_REASON_STUCK, now) == APR_SUCCESS) {
            *outcome = ADMISSION_STUCK;
        }
    }
    else if (now >= parking->deadline) {
        if (adm_ticket_cancel(ticket, ADM_REASON_TIMEOUT, now) == APR_SUCCESS) {
            *outcome = ADMISSION_TIMEOUT;
        }
    }
    else {
        return 0;
    }
    return 1;
}

static int go_on(admission_visit_t *visit)
{
    admission_parking_t *parking = visit->parking;
    admission_outcome_t outcome;

    if (!has_ended(visit, &outcome)) {
        if (!parking->is_last_chance
            && admission_lot_enter(visit, patience_of(parking->r))) {
            return wait_for_wake_up(parking->c);
        }
        /* It cannot be parked again. Nor must it block: the child may need
         * every thread for those who were granted before it. */
        outcome = adm_ticket_cancel(&visit->ticket, ADM_REASON_RESERVE,
                                    adm_now())
                          == APR_EBUSY
                      ? ADMISSION_GRANTED
                      : ADMISSION_RESERVED;
    }
    admission_lot_leave(parking);
    finish_request(parking, outcome);
    return OK;
}

int admission_process_connection(conn_rec *c)
{
    admission_visit_t *visit;
    int rv;

    if (!server_parks || !c->cs || c->master) {
        return DECLINED;
    }
    visit = visit_in_state(c, ADMISSION_LOOKING);
    if (visit) {
        return go_on(visit);
    }
    rv = run_connection_hooks_behind(c);
    if (c->cs->state == CONN_STATE_SUSPENDED
        && visit_in_state(c, ADMISSION_LEAVING)) {
        rv = wait_for_wake_up(c);
    }
    return rv;
}

/* ---- how many ------------------------------------------------------------------------------------ */

/* Descriptors a child needs besides those of its connections. */
#define SPARE_DESCRIPTORS 64

static rlim_t threads_of_child(void)
{
    int threads = 0;

    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    return threads > 0 ? (rlim_t)threads : 0;
}

/* The MPM accepts no more than ThreadsPerChild + idle threads *
 * AsyncRequestWorkerFactor connections a child. Half of the latter are for
 * those who wait, the rest for those who do not. */
static double factor_of_mpm(void)
{
    double factor = admission_number_of("AsyncRequestWorkerFactor", 2);

    return factor > 0 ? factor : 0;
}

static rlim_t limit_by_factor(void)
{
    return (rlim_t)((double)threads_of_child() * factor_of_mpm() / 2);
}

/* Each worker that is held has a connection, and takes from the others as many
 * as the factor says. What all who are held and parked take may not be more than
 * what leaves the others their half. */
void admission_park_limit_connections(adm_child_t *child)
{
    double factor = factor_of_mpm();
    uint32_t rounded_up = (uint32_t)factor + ((uint32_t)factor < factor);

    adm_child_limit_connections(child,
                                (uint32_t)(threads_of_child()
                                           + limit_by_factor()),
                                1 + rounded_up);
}

/* Two descriptors each, one for every other connection, and what a program or
 * a backend needs for every thread. */
static rlim_t limit_by_descriptors(void)
{
    struct rlimit limit;
    rlim_t others = SPARE_DESCRIPTORS + limit_by_factor()
                    + 4 * threads_of_child();

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0
        || limit.rlim_cur == RLIM_INFINITY) {
        return ADM_PARK_SLOTS;
    }
    return limit.rlim_cur > others ? (limit.rlim_cur - others) / 2 : 0;
}

static uint32_t slots_of_child(void)
{
    rlim_t slots = limit_by_factor();
    rlim_t descriptors = limit_by_descriptors();

    if (slots > descriptors) {
        slots = descriptors;
    }
    return slots < ADM_PARK_SLOTS ? (uint32_t)slots : ADM_PARK_SLOTS;
}

static void warn_of_long_lines(server_rec *s)
{
    const apr_array_header_t *zones = admission_zones();
    int daemons = 1, i;
    apr_int64_t room, waiters = 0;

    ap_mpm_query(AP_MPMQ_MAX_DAEMONS, &daemons);
    room = (apr_int64_t)daemons * slots_of_child();
    for (i = 0; i < zones->nelts; i++) {
        waiters += APR_ARRAY_IDX(zones, i, admission_zone_t *)->queue_length;
    }
    if (waiters > room) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0302)
                     "the lines of all zones have %" APR_INT64_T_FMT
                     " places, but the server parks %" APR_INT64_T_FMT
                     " requests at most (%u a child), others wait with a "
                     "worker; raise AsyncRequestWorkerFactor, and the limit of "
                     "open files with it, or lower AdmissionQueue",
                     waiters, room, slots_of_child());
    }
}

/* ---- start ------------------------------------------------------------------------------------------ */

int admission_parks(void)
{
    return server_parks;
}

int admission_would_park(server_rec *s)
{
    int can = 0;

    return admission_parking_is_on(s)
           && ap_mpm_query(AP_MPMQ_CAN_WAITIO, &can) == APR_SUCCESS && can
           && slots_of_child() > 0;
}

void admission_park_post_config(server_rec *s)
{
    server_parks = admission_would_park(s);
    if (admission_zones()->nelts == 0) {
        return;
    }
    ap_log_error(APLOG_MARK, APLOG_INFO, 0, s, ADMLOGNO(0303)
                 "requests that wait %s",
                 server_parks ? "are parked, they hold no worker"
                              : "hold a worker");
    if (server_parks) {
        warn_of_long_lines(s);
    }
}

void admission_park_child_init(apr_pool_t *pchild, server_rec *s)
{
    adm_child_t *child = admission_child();
    apr_status_t rv;

    if (!server_parks || !child) {
        return;
    }
    rv = admission_lot_open(child, slots_of_child(), pchild);
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, s, ADMLOGNO(0304)
                     "no thread to look after parked requests, those of this "
                     "child hold a worker while they wait");
    }
}

#else /* the MPM or the system cannot: everybody blocks */

int admission_parks(void)
{
    return 0;
}

int admission_would_park(server_rec *s)
{
    (void)s;
    return 0;
}

int admission_may_park(request_rec *r)
{
    (void)r;
    return 0;
}

int admission_park(request_rec *r, admission_visit_t *visit,
                   adm_usec_t deadline)
{
    (void)r;
    (void)visit;
    (void)deadline;
    return DECLINED;
}

void admission_park_forget(admission_visit_t *visit)
{
    (void)visit;
}

int admission_process_connection(conn_rec *c)
{
    (void)c;
    return DECLINED;
}

void admission_suspend_connection(conn_rec *c, request_rec *r)
{
    (void)c;
    (void)r;
}

void admission_resume_connection(conn_rec *c, request_rec *r)
{
    (void)c;
    (void)r;
}

void admission_park_post_config(server_rec *s)
{
    (void)s;
}

void admission_park_child_init(apr_pool_t *pchild, server_rec *s)
{
    (void)pchild;
    (void)s;
}

#endif
