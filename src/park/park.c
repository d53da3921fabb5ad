/* park.c - wait for a permit without a worker (event MPM).
 *
 * The MPM can wait for a connection's socket without a worker and then calls
 * process_connection again:
 *
 *   handler hook        queued: enter the lot, return SUSPENDED
 *   process_connection  SUSPENDED -> the MPM waits (park_mpm.c)
 *   suspend_connection  swap out: the MPM polls the lot's epoll set
 *   dispatcher          granted, too late, or a look is due: make it readable
 *   resume_connection   swap in: the socket is itself again
 *   process_connection  run the handler, or say why not, or park again
 *
 * docs/dev/architecture.md has the picture, docs/dev/decisions the ways that fail.
 */
#include <httpd.h>
#include <http_core.h>
#include <http_log.h>

#include "park_lot.h"
#include "park_mpm.h"
#include "park.h"
#include "park_resume.h"
#include "module/run.h"
#include "module/wait.h"
#include "module/capacity.h"
#include "module/process.h"
#include "park_room.h"

APLOG_USE_MODULE(admission);

/* ---- park ---------------------------------------------------------------- */

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
        .ignores_end = admission_wait_ignores_end(r),
        .stand_in = { .socket = -1, .epoll = -1 }
    };
    return admission_lot_enter(visit, patience_of(r)) ? SUSPENDED : DECLINED;
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

void admission_park_suspend(conn_rec *c)
{
    admission_visit_t *visit = visit_in_state(c, ADMISSION_LEAVING);

    if (visit) {
        admission_lot_swap_out(visit->parking);
    }
}

void admission_park_resume(conn_rec *c)
{
    admission_visit_t *visit = visit_in_state(c, ADMISSION_PARKED);

    if (visit) {
        admission_lot_swap_in(visit->parking);
        adm_ticket_unpark(&visit->ticket);
        /* The MPM closes what waits for longer than Timeout, by a clock that may be
         * set. The deadline of the queue counts. */
        admission_mpm_resume(c);
    }
}

/* ---- go on --------------------------------------------------------------- */

static int run(request_rec *r, void *data)
{
    admission_verdict_t *verdict = data;
    const admission_visit_t *visit = admission_visit_request(r)->visit;

    admission_wait_end(r, verdict->outcome, visit->parking->began, verdict);
    return admission_run(r, verdict);
}

static bool go_on(admission_visit_t *visit)
{
    admission_parking_t *parking = visit->parking;
    admission_verdict_t verdict;
    adm_outcome_t outcome = admission_wait_outcome(parking->r, &visit->ticket,
                                                   parking->deadline);

    if (outcome == ADM_WAITING) {
        if (admission_lot_enter(visit, patience_of(parking->r))) {
            return true;
        }
        /* It cannot be parked again. Nor must it block: the child may need
         * every thread for those who were granted before it. */
        outcome = adm_ticket_cancel(&visit->ticket, ADM_PARKING, adm_now());
    }
    admission_lot_leave(parking);
    verdict.outcome = outcome;
    return admission_resume_handler(parking->r, parking->handler, run,
                                    &verdict);
}

admission_went_t admission_park_goes_on(conn_rec *c)
{
    admission_visit_t *visit = visit_in_state(c, ADMISSION_LOOKING);

    if (!visit) {
        return ADMISSION_WENT_NOWHERE;
    }
    return go_on(visit) ? ADMISSION_WENT_AWAY : ADMISSION_WENT_ON;
}

/* ---- start --------------------------------------------------------------- */

void admission_park_child_init(apr_pool_t *pchild, server_rec *s)
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
                 "this child has room to park %" APR_INT64_T_FMT
                 " requests, %" APR_INT64_T_FMT " of %" APR_INT64_T_FMT
                 " files are open",
                 slots, open, allowed);
    rv = admission_lot_open(child, (uint32_t)slots,
                            (uint32_t)admission_capacity_threads(),
                            allowed - ADMISSION_SPARE_FILES, pchild);
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, s, ADMLOGNO(0304)
                     "no thread to look after parked requests, those of this "
                     "child hold a worker while they wait");
    }
}
