/* mod_admission_park.c - wait for a permit without a worker (event MPM).
 *
 * The MPM can wait for a connection's socket without a worker and then calls
 * process_connection again:
 *
 *   handler hook        queued: enter the lot, return SUSPENDED
 *   process_connection  SUSPENDED -> the MPM waits (mod_admission_mpm.c)
 *   suspend_connection  swap out: the MPM polls the lot's epoll set
 *   dispatcher          granted, too late, or a look is due: make it readable
 *   resume_connection   swap in: the socket is itself again
 *   process_connection  run the handler, or say why not, or park again
 *
 * docs/architecture.md has the picture, docs/decisions the ways that fail.
 */
#include <httpd.h>
#include <apr_hooks.h>
#include <http_connection.h>
#include <http_core.h>
#include <http_log.h>
#include <http_protocol.h>
#include <http_request.h>
#include <scoreboard.h>

#include "request/mod_admission_lot.h"
#include "request/mod_admission_mpm.h"
#include "request/mod_admission_park.h"
#include "request/mod_admission_run.h"
#include "request/mod_admission_wait.h"
#include "server/mod_admission_process.h"
#include "server/mod_admission_room.h"

APLOG_USE_MODULE(admission);

/* ---- park ---------------------------------------------------------------- */

bool admission_park_is_possible(request_rec *r)
{
    conn_rec *c = r->connection;

    /* Others run below somebody who cannot be suspended, or on a connection
     * that the MPM does not poll. */
    return admission_room_parks() && c->cs && !c->master
           && !c->clogging_input_filters && !r->main && !r->prev
           && admission_lot_is_open(admission_process_child());
}

/* The MPM closes a connection that waits for longer than Timeout, of one server
 * or the other; and whoever is woken may still have to wait for a worker. */
static adm_usec_t patience_of(const request_rec *r)
{
    adm_usec_t own = r->server->timeout;
    adm_usec_t base = r->connection->base_server->timeout;

    return (own < base ? own : base) / 2;
}

static apr_status_t leave_with_connection(void *parking)
{
    admission_lot_leave(parking);
    return APR_SUCCESS;
}

int admission_park(request_rec *r, admission_visit_t *visit,
                   adm_usec_t deadline)
{
    conn_rec *c = r->connection;

    if (!visit->parking) {
        visit->parking = apr_palloc(c->pool, sizeof(*visit->parking));
        /* Runs before the visit's own, which releases the ticket. */
        apr_pool_cleanup_register(c->pool, visit->parking,
                                  leave_with_connection, apr_pool_cleanup_null);
    }
    *visit->parking = (admission_parking_t){
        .c = c,
        .r = r,
        .handler = r->handler,
        .began = adm_now(),
        .deadline = deadline,
        .may_half_close = admission_wait_may_half_close(r),
        .stand_in = { .socket = -1, .epoll = -1 }
    };
    return adm_worker_has_room(admission_process_child())
                   && admission_lot_enter(visit, patience_of(r))
               ? SUSPENDED
               : DECLINED;
}

/* ---- the MPM's suspend and resume ---------------------------------------- */

static admission_visit_t *visit_in_state(const conn_rec *c,
                                         admission_parked_t state)
{
    admission_visit_t *visit = admission_visit_first(c);

    while (visit && !(visit->parking && visit->parking->state == state)) {
        visit = visit->next;
    }
    return visit;
}

void admission_park_suspend_connection(conn_rec *c, request_rec *r)
{
    admission_visit_t *visit = visit_in_state(c, ADMISSION_LEAVING);

    (void)r;
    if (visit && admission_mpm_is_waiting(c)) {
        admission_lot_swap_out(visit->parking);
    }
}

void admission_park_resume_connection(conn_rec *c, request_rec *r)
{
    admission_visit_t *visit = visit_in_state(c, ADMISSION_PARKED);

    (void)r;
    if (visit) {
        admission_lot_swap_in(visit->parking);
        adm_ticket_unpark(&visit->ticket);
        if (!admission_mpm_resume(c)) {
            /* No worker came in time, and the MPM wants to close the
             * connection: answer at least. */
            visit->parking->is_last_chance = true;
            c->keepalive = AP_CONN_CLOSE;
        }
    }
}

/* ---- go on --------------------------------------------------------------- */

/* Those of process_connection, which do not change while a child lives. */
static ap_LINK_process_connection_t *hook_behind, *hooks_end;

static void find_connection_hooks_behind(void)
{
    apr_array_header_t *hooks = ap_hook_get_process_connection();

    hook_behind = (ap_LINK_process_connection_t *)hooks->elts;
    hooks_end = hook_behind + hooks->nelts;
    while (hook_behind < hooks_end
           && (hook_behind++)->pFunc != admission_park_process_connection) {
    }
}

static int run_connection_hooks_behind(conn_rec *c)
{
    ap_LINK_process_connection_t *hook;
    int rv = DECLINED;

    for (hook = hook_behind; hook < hooks_end && rv == DECLINED; hook++) {
        rv = hook->pFunc(c);
    }
    return rv;
}

/* What ap_invoke_handler() does behind a handler; its filters are in place. */
static int checked_result(request_rec *r, int rv)
{
    if (rv == DECLINED) {
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    if (rv != OK && rv != DONE && rv != SUSPENDED && rv != AP_FILTER_ERROR
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
    admission_verdict_t verdict;
    int rv;

    apr_thread_mutex_lock(r->invoke_mtx);
    r->handler = parking->handler;
    admission_wait_end(r, outcome, parking->began, &verdict);
    rv = checked_result(r, admission_run(r, &verdict));
    r->handler = old_handler;
    if (rv == SUSPENDED) {
        /* Before the unlock: then the request may end, and its connection. */
        admission_mpm_suspend(parking->c);
    }
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

    admission_mpm_begin_handler(c);
    ap_update_child_status(c->sbh, SERVER_BUSY_WRITE, r);
    if (ap_extended_status) {
        ap_time_process_request(c->sbh, START_PREQUEST);
    }
    rv = run_handler(r, parking, outcome);
    if (rv == SUSPENDED) {
        return;
    }
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

ADMISSION_NOT_INLINED static int go_on(admission_visit_t *visit)
{
    admission_parking_t *parking = visit->parking;
    adm_outcome_t outcome = admission_wait_outcome(parking->r, &visit->ticket,
                                                   parking->deadline);

    if (outcome == ADM_WAITING) {
        if (!parking->is_last_chance
            && admission_lot_enter(visit, patience_of(parking->r))) {
            admission_mpm_wait(parking->c);
            return OK;
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

int admission_park_process_connection(conn_rec *c)
{
    admission_visit_t *visit;
    int rv;

    if (!admission_room_parks() || !c->cs || c->master) {
        return DECLINED;
    }
    visit = visit_in_state(c, ADMISSION_LOOKING);
    if (visit) {
        return go_on(visit);
    }
    rv = run_connection_hooks_behind(c);
    if (admission_mpm_is_suspended(c) && visit_in_state(c, ADMISSION_LEAVING)) {
        admission_mpm_wait(c);
        rv = OK;
    }
    return rv;
}

/* ---- start --------------------------------------------------------------- */

void admission_park_child_init(apr_pool_t *pchild, server_rec *s)
{
    adm_child_t *child = admission_process_child();
    apr_int64_t open, allowed, slots;
    apr_status_t rv;

    find_connection_hooks_behind();
    if (!admission_room_parks() || !child) {
        return;
    }
    open = admission_room_files_open();
    allowed = admission_room_files_allowed();
    slots = admission_room_slots(s, open);
    ap_log_error(APLOG_MARK, APLOG_DEBUG, 0, s, ADMLOGNO(0305)
                 "this child has room to park %" APR_INT64_T_FMT
                 " requests, %" APR_INT64_T_FMT " of %" APR_INT64_T_FMT
                 " files are open",
                 slots, open, allowed);
    rv = admission_lot_open(child, (uint32_t)slots,
                            allowed - ADMISSION_SPARE_FILES, pchild);
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, s, ADMLOGNO(0304)
                     "no thread to look after parked requests, those of this "
                     "child hold a worker while they wait");
    }
}
