/* park_ready.c - wait for a client without a worker. */
#include <httpd.h>
#include <util_filter.h>

#include "park_lot.h"
#include "park_mpm.h"
#include "park_ready.h"
#include "module/visit.h"
#include "module/process.h"

/* ---- the stand-in ---------------------------------------------------------- */

static void restore_socket(admission_ready_t *ready)
{
    admission_alarm_clear(&ready->alarm);
    if (ready->state == ADMISSION_READY_AWAY
        && admission_stand_in_is_open(&ready->stand_in)) {
        admission_stand_in_yield(&ready->stand_in, ready->c);
    }
    admission_stand_in_close(&ready->stand_in);
}

/* Whether mod_reqtimeout limits how long the client can take to send. It checks
 * this limit only when a worker reads, so the connection needs an alarm that
 * gives it a worker in time. */
static bool has_time_limit(const conn_rec *c)
{
    const ap_filter_t *f = c->input_filters;

    while (f && strcmp(f->frec->name, "reqtimeout") != 0) {
        f = f->next;
    }
    return f != NULL;
}

/* Open a stand-in if the MPM alone cannot wait for this: with a time limit
 * to check, or to write on an older httpd. @return whether the MPM can poll
 * now. */
static bool make_pollable(admission_ready_t *ready, bool to_write)
{
    ready->has_alarm = !to_write && has_time_limit(ready->c);
    if (!ready->has_alarm && (!to_write || admission_mpm_waits_to_write())) {
        return true;
    }
    ready->stand_in.events = to_write ? EPOLLOUT : EPOLLIN | EPOLLRDHUP;
    return admission_stand_in_open(&ready->stand_in, ready->c);
}

/* ---- start and end --------------------------------------------------------- */

void admission_ready_end(admission_ready_t *ready)
{
    restore_socket(ready);
    ready->state = ADMISSION_READY_IDLE;
    if (ready->is_counted) {
        ready->is_counted = false;
        adm_worker_end_transfer(admission_process_own_child());
    }
}

static apr_status_t end_with_connection(void *ready)
{
    admission_ready_end(ready);
    return APR_SUCCESS;
}

/* @return the connection's record, allocated at the first call. */
static admission_ready_t *make(conn_rec *c)
{
    admission_ready_t *ready = admission_visit_ready(c);

    if (!ready) {
        ready = apr_palloc(c->pool, sizeof(*ready));
        *ready = (admission_ready_t){
            .c = c, .stand_in = { .socket = -1, .epoll = -1 }
        };
        admission_visit_set_ready(c, ready);
        apr_pool_cleanup_register(c->pool, ready, end_with_connection,
                                  apr_pool_cleanup_null);
    }
    return ready;
}

admission_ready_t *admission_ready_begin(const request_rec *r,
                                         bool (*resume)(admission_ready_t *),
                                         void *data)
{
    admission_ready_t *ready = make(r->connection);

    if (!admission_lot_is_polled()
        || !adm_worker_begin_transfer(admission_process_own_child())) {
        return NULL;
    }
    ready->is_counted = true;
    ready->timeout = admission_mpm_timeout(r);
    admission_ready_note(ready);
    ready->resume = resume;
    ready->data = data;
    return ready;
}

bool admission_ready_wait(admission_ready_t *ready, bool to_write)
{
    if (ready->is_last_chance || !make_pollable(ready, to_write)) {
        return false;
    }
    ready->to_write = to_write;
    ready->state = ADMISSION_READY_LEAVING;
    admission_lot_watch_listener();
    return true;
}

bool admission_ready_is_leaving(const conn_rec *c)
{
    const admission_ready_t *ready = admission_visit_ready(c);

    return ready && ready->state == ADMISSION_READY_LEAVING;
}

bool admission_ready_polls_to_write(const conn_rec *c)
{
    const admission_ready_t *ready = admission_visit_ready(c);

    /* With a stand-in, the MPM polls for reading only. */
    return ready && ready->to_write
           && !admission_stand_in_is_open(&ready->stand_in);
}

/* ---- hooks of the MPM ------------------------------------------------------ */

void admission_ready_suspend(conn_rec *c)
{
    admission_ready_t *ready = admission_visit_ready(c);

    if (ready && ready->state == ADMISSION_READY_LEAVING) {
        if (admission_stand_in_is_open(&ready->stand_in)) {
            admission_stand_in_take(&ready->stand_in);
        }
        if (ready->has_alarm) {
            admission_alarm_set(&ready->alarm, &ready->stand_in);
        }
        ready->state = ADMISSION_READY_AWAY;
    }
}

void admission_ready_resume(conn_rec *c)
{
    admission_ready_t *ready = admission_visit_ready(c);

    if (ready && ready->state == ADMISSION_READY_AWAY) {
        restore_socket(ready);
        ready->state = ADMISSION_READY_BACK;
        /* The MPM's clock can be set, so the time is checked again. */
        ready->is_last_chance = (!admission_mpm_resume(c) || ready->has_alarm)
                                && adm_now() - ready->since >= ready->timeout;
    }
}

admission_continued_t admission_ready_continue(conn_rec *c)
{
    admission_ready_t *ready = admission_visit_ready(c);

    if (!ready || ready->state != ADMISSION_READY_BACK) {
        return ADMISSION_NONE_WAITED;
    }
    return ready->resume(ready) ? ADMISSION_WAITS_AGAIN : ADMISSION_CONTINUED;
}
