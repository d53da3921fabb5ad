/* park.c - wait for a permit without a worker (event MPM).
 *
 * The MPM can poll a connection's socket without a worker, and then calls
 * process_connection again:
 *
 *   handler hook        queued: enter the lot, return SUSPENDED
 *   process_connection  SUSPENDED: tell the MPM to wait (park_mpm.c)
 *   suspend_connection  swap out: the MPM polls the lot's epoll set instead
 *   dispatcher          permit granted, deadline or check due: make it readable
 *   resume_connection   swap in: the MPM polls the socket again
 *   process_connection  run the handler, reject the request, or park it again
 *
 * A request waits for a permit or for its client (park_ready.c), never for
 * both. It is continued before anything else reads from the connection.
 *
 * docs/dev/architecture.md has the overview, docs/dev/decisions the rejected
 * ways.
 */
#include <httpd.h>
#include <apr_hooks.h>
#include <http_connection.h>
#include <http_core.h>
#include <http_log.h>

#include "park_lot.h"
#include "park_mpm.h"
#include "park.h"
#include "park_ready.h"
#include "park_resume.h"
#include "module/run.h"
#include "module/wait.h"
#include "module/capacity.h"
#include "module/process.h"
#include "park_room.h"

APLOG_USE_MODULE(admission);

/* ---- park ---------------------------------------------------------------- */

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
        /* Runs before the visit's own cleanup, which releases the ticket. */
        apr_pool_cleanup_register(c->pool, visit->parking,
                                  leave_with_connection, apr_pool_cleanup_null);
    }
    *visit->parking = (admission_parking_t){
        .c = c,
        .r = r,
        .handler = r->handler,
        .started = adm_now(),
        .deadline = deadline,
        .stand_in = { .socket = -1,
                      .epoll = -1,
                      /* a half-closed client would report this all the time */
                      .events = admission_wait_ignores_end(r) ? 0 : EPOLLRDHUP,
                      .ignores_reset = admission_wait_ignores_reset(r) }
    };
    return admission_lot_enter(visit) ? SUSPENDED : DECLINED;
}

/* ---- continue ------------------------------------------------------------ */

static int run(request_rec *r, void *unused)
{
    return admission_run(r);
}

/* @return whether the request is parked again; if not, it is finished or its
 * connection waits for its client. */
static bool continue_request(admission_visit_t *visit)
{
    admission_parking_t *parking = visit->parking;
    adm_outcome_t outcome = admission_wait_outcome(parking->r, &visit->ticket,
                                                   parking->deadline);

    if (outcome == ADM_WAITING) {
        if (admission_lot_enter(visit)) {
            return true;
        }
        /* Reject a request that cannot be parked again. It must not block: the
         * child might need all its threads for requests that were granted
         * before. */
        outcome = adm_ticket_cancel(&visit->ticket, ADM_PARKING, adm_now());
    }
    admission_lot_leave(parking);
    admission_wait_end(parking->r, outcome, parking->started);
    return admission_resume_handler(parking->r, parking->handler, run, NULL);
}

static admission_continued_t continue_parked(conn_rec *c)
{
    admission_visit_t *visit = admission_lot_find(c, ADMISSION_CHECKING);

    if (!visit) {
        return ADMISSION_NONE_WAITED;
    }
    return continue_request(visit) ? ADMISSION_WAITS_AGAIN
                                   : ADMISSION_CONTINUED;
}

/* ---- hooks of the connection ----------------------------------------------- */

/* Run the hooks after admission_park_process(), which read and run the
 * next request. They are called from here because the connection's state must
 * be changed if that request is parked. */
static int run_later_hooks(conn_rec *c)
{
    apr_array_header_t *hooks = ap_hook_get_process_connection();
    ap_LINK_process_connection_t *hook = (ap_LINK_process_connection_t *)
                                             hooks->elts;
    int i, rv = DECLINED;

    for (i = 0; i < hooks->nelts && hook[i].pFunc != admission_park_process;
         i++) {
    }
    for (i++; i < hooks->nelts && rv == DECLINED; i++) {
        rv = hook[i].pFunc(c);
    }
    return rv;
}

int admission_park_process(conn_rec *c)
{
    admission_continued_t continued;
    int rv = OK;

    if (!admission_room_parks() || !c->cs || c->master) {
        return DECLINED;
    }
    continued = admission_ready_continue(c);
    if (continued == ADMISSION_NONE_WAITED) {
        continued = continue_parked(c);
    }
    if (continued == ADMISSION_NONE_WAITED) {
        rv = run_later_hooks(c);
        if (admission_mpm_is_suspended(c) && admission_resume_is_leaving(c)) {
            continued = ADMISSION_WAITS_AGAIN;
        }
    }
    if (continued == ADMISSION_WAITS_AGAIN) {
        admission_mpm_wait(c, admission_ready_is_leaving(c)
                                  && admission_ready_polls_to_write(c));
        rv = OK;
    }
    return rv;
}

void admission_park_suspend(conn_rec *c, request_rec *r)
{
    if (admission_room_parks() && c->cs && admission_mpm_is_waiting(c)) {
        admission_visit_t *visit = admission_lot_find(c, ADMISSION_LEAVING);

        if (visit) {
            admission_lot_swap_out(visit->parking);
        }
        admission_ready_suspend(c);
    }
}

void admission_park_resume(conn_rec *c, request_rec *r)
{
    if (admission_room_parks()) {
        admission_visit_t *visit = admission_lot_find(c, ADMISSION_PARKED);

        if (visit) {
            admission_lot_swap_in(visit->parking);
            adm_ticket_unpark(&visit->ticket);
            /* The result is ignored: the MPM measures Timeout by the wall
             * clock, which can be set. The queue's deadline decides. */
            admission_mpm_resume(c);
        }
        admission_ready_resume(c);
    }
}

/* ---- start --------------------------------------------------------------- */

void admission_park_child_start(apr_pool_t *pchild, server_rec *s)
{
    adm_child_t *child = admission_process_child();
    apr_int64_t open, allowed, slots;
    apr_status_t rv;

    if (!admission_room_parks() || !child) {
        return;
    }
    open = admission_room_files_open();
    allowed = admission_room_files_allowed();
    slots = admission_room_slots(s, open);
    ap_log_error(APLOG_MARK, APLOG_DEBUG, 0, s, ADMLOGNO(0305)
                 "this child can park %" APR_INT64_T_FMT
                 " requests: %" APR_INT64_T_FMT " of %" APR_INT64_T_FMT
                 " files are open",
                 slots, open, allowed);
    rv = admission_lot_open(child, (uint32_t)slots,
                            (uint32_t)admission_capacity_threads(),
                            allowed - ADMISSION_SPARE_FILES, pchild);
    if (rv != APR_SUCCESS) {
        ap_log_error(
            APLOG_MARK, APLOG_ERR, rv, s, ADMLOGNO(0304)
            "cannot start the thread that wakes parked requests: "
            "requests of this child hold a worker while they wait; raise the "
            "limit on threads or processes, then restart httpd");
    }
}
