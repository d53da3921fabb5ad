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
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

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
    *visit->parking = (admission_parking_t){
        .c = c,
        .r = r,
        .handler = r->handler,
        .began = adm_now(),
        .deadline = deadline,
        .may_half_close = admission_may_half_close(r),
        .socket = -1,
        .epoll = -1
    };
    return adm_worker_has_room(admission_child())
                   && admission_lot_enter(visit, patience_of(r))
               ? SUSPENDED
               : DECLINED;
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
                       adm_outcome_t outcome)
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
                           adm_outcome_t outcome)
{
    request_rec *r = parking->r;
    conn_rec *c = parking->c;
    int rv, status;

    c->cs->state = CONN_STATE_HANDLER;
    ap_update_child_status(c->sbh, SERVER_BUSY_WRITE, r);
    if (ap_extended_status) {
        ap_time_process_request(c->sbh, START_PREQUEST);
    }
    rv = run_handler(r, parking, outcome);
    status = r->status;
    if (rv != OK && rv != DONE) {
        r->status = HTTP_OK; /* of the first error */
    }
    ap_die(rv, r);
    if (rv == AP_FILTER_ERROR && r->status == HTTP_OK) {
        r->status = status; /* that the client was told already */
    }
    ap_process_request_after_handler(r);
}

/* How the wait has ended. The client is asked first: nothing is started for
 * nobody. @return ADM_WAITING: it has not. */
static adm_outcome_t outcome_of(admission_visit_t *visit)
{
    const admission_parking_t *parking = visit->parking;
    adm_ticket_t *ticket = &visit->ticket;
    adm_usec_t now = adm_now();

    if (admission_client_has_gone(parking->r)) {
        return adm_ticket_cancel(ticket, ADM_GONE, now);
    }
    if (adm_ticket_is_granted(ticket)) {
        return ADM_WAITED;
    }
    if (adm_child_is_stopping(ticket->child)) {
        return adm_ticket_cancel(ticket, ADM_STOPPED, now);
    }
    if (adm_ticket_is_stuck(ticket, now)) {
        return adm_ticket_cancel(ticket, ADM_UNLIMITED, now);
    }
    return now >= parking->deadline
               ? adm_ticket_cancel(ticket, ADM_TIMEOUT, now)
               : ADM_WAITING;
}

static int go_on(admission_visit_t *visit)
{
    admission_parking_t *parking = visit->parking;
    adm_outcome_t outcome = outcome_of(visit);

    if (outcome == ADM_WAITING) {
        if (!parking->is_last_chance
            && admission_lot_enter(visit, patience_of(parking->r))) {
            return wait_for_wake_up(parking->c);
        }
        /* It cannot be parked again. Nor must it block: the child may need
         * every thread for those who were granted before it. */
        outcome = adm_ticket_cancel(&visit->ticket,
                                    parking->is_last_chance ? ADM_RESERVE
                                                            : ADM_PARKING,
                                    adm_now());
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

/* event accepts a connection while a child has fewer than
 *
 *     ThreadsPerChild + idle threads * AsyncRequestWorkerFactor
 *
 * of them, and begins again with one idle thread fewer in that sum. Parked
 * requests are among them, so a child full of them stops
 * accepting, others take over, and its threads no longer count as spare ones:
 * the parent starts more children, as long as MaxRequestWorkers allows. Nobody
 * need be rejected before. Kept for others is what they need to make use of the
 * workers that AdmissionReserve keeps for them: a busy worker has a connection,
 * and takes from the others as many as the factor says. */

/* Descriptors a child needs besides those of its connections. */
#define SPARE_DESCRIPTORS 64
/* And each thread, for a program or a backend. */
#define THREAD_DESCRIPTORS 4

static int query_of_mpm(int what)
{
    int value = 0;

    ap_mpm_query(what, &value);
    return value > 0 ? value : 0;
}

static int threads_of_child(void)
{
    return query_of_mpm(AP_MPMQ_MAX_THREADS);
}

static int children_at_most(void)
{
    return query_of_mpm(AP_MPMQ_MAX_DAEMONS);
}

/* What event does when nobody says how many. */
#define DEFAULT_START 3

static int children_at_start(void)
{
    double start = admission_number_of("StartServers", DEFAULT_START);
    int most = children_at_most();

    return start < 1 ? 1 : start < most ? (int)start : most;
}

/* event takes the whole number below it, and at least one. */
static apr_int64_t factor_of_mpm(void)
{
    double factor = admission_number_of("AsyncRequestWorkerFactor", 2);

    return factor >= 1 ? (apr_int64_t)factor : 1;
}

/* How many connections one busy worker stands for. */
static apr_int64_t connections_per_worker(void)
{
    return 1 + factor_of_mpm();
}

/* Of all children that there may be, and of one. */
static apr_int64_t server_budget(server_rec *s)
{
    int children = children_at_most();
    int workers = children * threads_of_child();

    return (workers - admission_reserved_workers(s, workers))
               * connections_per_worker()
           - children * factor_of_mpm();
}

static apr_int64_t child_budget(server_rec *s)
{
    int threads = threads_of_child();

    return (threads - admission_reserved_share(s, threads))
               * connections_per_worker()
           - factor_of_mpm();
}

static uint32_t as_budget(apr_int64_t connections)
{
    return connections < 0            ? 0
           : connections < UINT32_MAX ? (uint32_t)connections
                                      : UINT32_MAX;
}

void admission_park_limit_connections(server_rec *s, adm_child_t *child)
{
    adm_worker_limit_connections(child, as_budget(child_budget(s)),
                                 as_budget(server_budget(s)),
                                 as_budget(connections_per_worker()));
}

static apr_int64_t descriptors_allowed(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0
                   && limit.rlim_cur < (rlim_t)INT_MAX
               ? (apr_int64_t)limit.rlim_cur
               : INT_MAX;
}

/* Of this process: each log file is one. Where they cannot be listed, the lowest
 * free number tells. */
static apr_int64_t descriptors_open(void)
{
    DIR *files = opendir("/proc/self/fd");
    apr_int64_t open = -1; /* but the directory itself */
    int lowest;

    if (files) {
        while (readdir(files)) {
            open++;
        }
        closedir(files);
        return open - 2; /* "." and ".." */
    }
    lowest = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (lowest >= 0) {
        close(lowest);
    }
    return lowest;
}

/* Two descriptors each, when the connections that are kept for others have
 * theirs. */
static apr_int64_t limit_by_descriptors(server_rec *s, apr_int64_t open)
{
    int threads = threads_of_child();
    apr_int64_t others = admission_reserved_share(s, threads)
                         * connections_per_worker();
    apr_int64_t left = descriptors_allowed() - open - SPARE_DESCRIPTORS
                       - THREAD_DESCRIPTORS * threads - others;

    return left > 0 ? left / 2 : 0;
}

/* As many as the MPM accepts connections. */
static apr_int64_t limit_by_connections(void)
{
    apr_int64_t slots = threads_of_child() * connections_per_worker();

    return slots < ADM_PARK_SLOTS ? slots : ADM_PARK_SLOTS;
}

static apr_int64_t slots_of_child(server_rec *s, apr_int64_t open)
{
    apr_int64_t connections = limit_by_connections();
    apr_int64_t descriptors = limit_by_descriptors(s, open);

    return connections < descriptors ? connections : descriptors;
}

static apr_int64_t at_most(apr_int64_t wanted, apr_int64_t most)
{
    return wanted < most ? wanted : most;
}

admission_room_t admission_room(server_rec *s)
{
    apr_int64_t slots = slots_of_child(s, descriptors_open());
    apr_int64_t budget = server_budget(s);
    admission_room_t room = { 0 };

    if (admission_would_park(s)) {
        room.children = children_at_most();
        room.children_at_start = children_at_start();
        room.requests = at_most(room.children * slots, budget);
        room.requests_at_start = at_most(room.children_at_start * slots,
                                         budget);
    }
    return room;
}

/* What the zone can park while its limit is used. */
static apr_int64_t room_of_zone(server_rec *s, apr_int64_t slots,
                                const admission_zone_t *zone)
{
    apr_int64_t left = server_budget(s)
                       - zone->limit * connections_per_worker();

    return left > 0 ? at_most(slots, left) : 0;
}

static void warn_of_long_queue(server_rec *s, const admission_zone_t *zone,
                               apr_int64_t room, int files_are_short)
{
    ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0302)
                 "zone %s (%s): AdmissionQueue %d, but beside MaxConcurrent %d "
                 "the server can park %" APR_INT64_T_FMT " requests, in %d "
                 "children at most: others hold a worker or are rejected; "
                 "raise %s, or lower AdmissionQueue",
                 zone->name, zone->place, zone->queue_length, zone->limit, room,
                 children_at_most(),
                 files_are_short ? "the limit of open files"
                                 : "AsyncRequestWorkerFactor");
}

/* The zone that lacks most, by itself: that all are full at once is not what to
 * expect. */
void admission_park_warn(server_rec *s)
{
    const apr_array_header_t *zones = admission_zones();
    const admission_zone_t *worst = NULL;
    apr_int64_t slots = children_at_most()
                        * slots_of_child(s, descriptors_open());
    apr_int64_t most = 0, room = 0;
    int i;

    if (!admission_would_park(s)) {
        return;
    }
    for (i = 0; i < zones->nelts; i++) {
        const admission_zone_t *zone = APR_ARRAY_IDX(zones, i,
                                                     admission_zone_t *);
        apr_int64_t room_here = room_of_zone(s, slots, zone);

        if (!zone->dry_run && zone->queue_length - room_here > most) {
            most = zone->queue_length - room_here;
            worst = zone;
            room = room_here;
        }
    }
    if (worst) {
        warn_of_long_queue(s, worst, room, room == slots);
    }
}

/* ---- start ------------------------------------------------------------------------------------------ */

int admission_parks(void)
{
    return server_parks;
}

int admission_mpm_parks(void)
{
    int can = 0;

    return ap_mpm_query(AP_MPMQ_CAN_WAITIO, &can) == APR_SUCCESS && can;
}

int admission_would_park(server_rec *s)
{
    return admission_parking_is_on(s) && admission_mpm_parks()
           && slots_of_child(s, descriptors_open()) > 0;
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
        admission_room_post_config(s);
    }
}

void admission_park_child_init(apr_pool_t *pchild, server_rec *s)
{
    adm_child_t *child = admission_child();
    apr_int64_t open, allowed, slots;
    apr_status_t rv;

    if (!server_parks || !child) {
        return;
    }
    open = descriptors_open();
    allowed = descriptors_allowed();
    slots = slots_of_child(s, open);
    ap_log_error(APLOG_MARK, APLOG_DEBUG, 0, s, ADMLOGNO(0305)
                 "this child has room to park %" APR_INT64_T_FMT
                 " requests, %" APR_INT64_T_FMT " of %" APR_INT64_T_FMT
                 " files are open",
                 slots, open, allowed);
    rv = admission_lot_open(child, (uint32_t)slots, allowed - SPARE_DESCRIPTORS,
                            pchild);
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

int admission_mpm_parks(void)
{
    return 0;
}

int admission_would_park(server_rec *s)
{
    (void)s;
    return 0;
}

void admission_park_limit_connections(server_rec *s, adm_child_t *child)
{
    (void)s;
    (void)child;
}

admission_room_t admission_room(server_rec *s)
{
    (void)s;
    return (admission_room_t){ 0 };
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

void admission_park_warn(server_rec *s)
{
    (void)s;
}

void admission_park_child_init(apr_pool_t *pchild, server_rec *s)
{
    (void)pchild;
    (void)s;
}

#endif
