/* park_mpm.c - let the MPM wait for a connection without a worker. */
#include <httpd.h>
#include <stdatomic.h>
#include <unistd.h>

#include <ap_mpm.h>
#include <http_config.h>
#include <http_connection.h>
#include <http_core.h>
#include <scoreboard.h>

#include "park_mpm.h"
#include "park_stand_in.h"
#include "module/capacity.h"
#include "module/since.h"

/* An older MPM returns "not implemented" for this number. */
#ifndef AP_MPMQ_CAN_WAITIO
#define AP_MPMQ_CAN_WAITIO 19
#endif

/* State of a connection whose next request is read. httpd 2.4.63 renamed it,
 * and kept the number. */
#define READ_REQUEST CONN_STATE_READ_REQUEST_LINE

typedef enum way_t { NO_WAY, BY_WAITIO, BY_COMPLETION } way_t;

static way_t way; /* set by the parent, for all children */

/* ---- the choice ---------------------------------------------------------- */

static bool mpm_supports(int query)
{
    int value = 0;

    return ap_mpm_query(query, &value) == APR_SUCCESS && value;
}

bool admission_mpm_is_async(void)
{
    return mpm_supports(AP_MPMQ_IS_ASYNC);
}

bool admission_mpm_flush(conn_rec *c)
{
    ap_filter_t *f = c->output_filters;

    if (c->data_in_output_filters) {
        while (f->next) {
            f = f->next; /* the last filter is the socket's */
        }
        f->frec->filter_func.out_func(f, NULL);
    }
    return !c->data_in_output_filters && !c->aborted;
}

static way_t find_way(void)
{
    if (ADMISSION_HAS_WAITIO && mpm_supports(AP_MPMQ_CAN_WAITIO)
        && !ap_exists_config_define("ADMISSION_COMPLETION")) {
        return BY_WAITIO;
    }
    /* Other asynchronous MPMs might treat this state differently. */
    if (ADMISSION_HAS_COMPLETION && admission_mpm_is_async()
        && strcmp(ap_show_mpm(), "event") == 0) {
        return BY_COMPLETION;
    }
    return NO_WAY;
}

void admission_mpm_choose(void)
{
    way = find_way();
}

const char *admission_mpm_way(void)
{
    static const char *const names[] = {
        [BY_WAITIO] = "asynchronous wait", [BY_COMPLETION] = "write completion"
    };

    return names[way];
}

adm_usec_t admission_mpm_timeout(const request_rec *r)
{
    adm_usec_t own = r->server->timeout;
    adm_usec_t base = r->connection->base_server->timeout;

    return own < base ? own : base;
}

/* ---- httpd before 2.4.41 -------------------------------------------------- */

/* Filter behind the one that writes to the network. This MPM waits only while
 * something is left to write, and tries to write it before it polls. If that
 * succeeded, the MPM would read the next request or close the connection. So
 * the MPM's attempt, a call without a brigade, ends in this filter. */
static ap_filter_rec_t *hold_filter;

/* Called by the MPM as the last filter, instead of the writer. Calls the
 * writer, except to flush a connection that waits. */
static apr_status_t hold(ap_filter_t *f, apr_bucket_brigade *bb)
{
    const bool *is_waiting = f->ctx;
    ap_filter_t *writer = f->c->output_filters;

    if (*is_waiting && !bb) {
        return APR_SUCCESS;
    }
    while (writer->next != f) {
        writer = writer->next;
    }
    return writer->frec->filter_func.out_func(writer, bb);
}

void admission_mpm_register_filter(void)
{
    if (!ADMISSION_WAITS_BY_SENSE) {
        hold_filter = ap_register_output_filter("ADMISSION_HOLD", hold, NULL,
                                                AP_FTYPE_NETWORK + 1);
    }
}

/* Hold or release the connection's output. `data_in_output_filters` makes the
 * MPM wait although nothing is left to write. */
static void set_hold(conn_rec *c, bool is_waiting)
{
    ap_filter_t *f = c->output_filters;

    while (f->next) {
        f = f->next;
    }
    if (f->frec != hold_filter) {
        f = ap_add_output_filter_handle(hold_filter,
                                        apr_palloc(c->pool, sizeof(bool)), NULL,
                                        c);
    }
    *(bool *)f->ctx = is_waiting;
    c->data_in_output_filters = is_waiting;
}

/* ---- wait ---------------------------------------------------------------- */

bool admission_mpm_waits_to_write(void)
{
    return way == BY_WAITIO;
}

void admission_mpm_wait(conn_rec *c, bool to_write)
{
    c->cs->sense = to_write ? CONN_SENSE_WANT_WRITE : CONN_SENSE_WANT_READ;
#if ADMISSION_HAS_WAITIO
    if (way == BY_WAITIO) {
        c->cs->state = CONN_STATE_ASYNC_WAITIO;
        return;
    }
#endif
#if ADMISSION_HAS_COMPLETION
    c->cs->state = CONN_STATE_WRITE_COMPLETION;
#endif
    if (!ADMISSION_WAITS_BY_SENSE) {
        set_hold(c, true);
    }
}

/* ---- continue ------------------------------------------------------------ */

static void end_completion(conn_rec *c)
{
    if (!ADMISSION_WAITS_BY_SENSE) {
        set_hold(c, false);
    }
#if ADMISSION_HAS_COMPLETION
    if (c->cs->state == CONN_STATE_WRITE_COMPLETION) {
        c->cs->state = READ_REQUEST; /* the MPM calls process_connection */
    }
#endif
}

bool admission_mpm_resume(conn_rec *c)
{
    if (way == BY_COMPLETION) {
        end_completion(c);
    }
    /* Without a scoreboard handle, the connection is already closed. */
    if (c->cs->state != CONN_STATE_LINGER || !c->sbh) {
        return true;
    }
    /* httpd 2.4.37 sets the timeout in microseconds instead of seconds. */
    apr_socket_timeout_set(ap_get_conn_socket(c), c->base_server->timeout);
    c->cs->state = READ_REQUEST;
    return false;
}

/* ---- the listener -------------------------------------------------------- */

static atomic_int pokes; /* 1 until a worker has run the timer */

static void note_poke(void *baton)
{
    atomic_store(&pokes, 0);
}

static bool is_own(int slot)
{
    const process_score *score = ap_get_scoreboard_process(slot);

    return score && score->pid == getpid();
}

int admission_mpm_slot(void)
{
    static atomic_int known = -1; /* all threads find the same */
    int slot = atomic_load(&known);

    if (slot < 0 || !is_own(slot)) {
        slot = admission_capacity_query(AP_MPMQ_HARD_LIMIT_DAEMONS, 0) - 1;
        while (slot >= 0 && !is_own(slot)) {
            slot--;
        }
        atomic_store(&known, slot);
    }
    return slot;
}

/* Depends on the way, not on the version: distributions backport fixes. */
bool admission_mpm_oversleeps(void)
{
    return way == BY_COMPLETION;
}

bool admission_mpm_keep_accepting(void)
{
    int slot = admission_mpm_slot();
    const process_score *score = slot < 0 ? NULL
                                          : ap_get_scoreboard_process(slot);

    if (!score || !score->not_accepting || score->quiescing) {
        return score != NULL;
    }
    /* A timer that is due now wakes the listener, which then checks for idle
     * workers. The timer takes no worker from a request, but waits while all
     * are busy: so one timer at a time is enough. */
    if (atomic_exchange(&pokes, 1) == 0) {
        ap_mpm_register_timed_callback(0, note_poke, NULL);
    }
    return false;
}
