/* park_mpm.h - let the MPM wait for a connection without a worker.
 *
 * The only files that name connection states. Two ways, chosen when the server
 * starts, so that one binary serves every httpd:
 *
 *   WAITIO       httpd 2.4.63 and later: CONN_STATE_ASYNC_WAITIO
 *   completion   before: WRITE_COMPLETION with nothing to write that wants to
 *                read; the MPM polls the socket and then calls us again
 */
#ifndef PARK_MPM_H
#define PARK_MPM_H

#include <stdbool.h>

#include <httpd.h>

#include <ap_mpm.h>

#include "module/capacity.h"

/**
 * Choose the way. The parent, at each configuration load, and DUMP_ADMISSION.
 * `-D ADMISSION_COMPLETION` forces the older one.
 *
 * @return a name for the log; NULL: this MPM cannot wait.
 */
const char *admission_mpm_choose(void);

/** Once, with the hooks, before any connection. */
void admission_mpm_register_filter(void);

/** @return whether the MPM writes what is left of an answer without a worker. */
bool admission_mpm_is_async(void);

/** @return whether the MPM can wait until a socket is writable, with nothing of its
 *  own to write. */
bool admission_mpm_waits_to_write(void);

/**
 * @return whether this child is not about to end. One that is ends its listener as
 *         soon as it counts no connection, and one that it has accepted counts only
 *         when a worker takes it: nobody may poll that, admission_lot_is_polled().
 */
static inline bool admission_mpm_goes_on(void)
{
    return admission_capacity_query(AP_MPMQ_MPM_STATE, AP_MPMQ_RUNNING)
           != AP_MPMQ_STOPPING;
}

/** process_connection returned SUSPENDED: let the MPM wait until the socket is
 *  readable, or writable. It then runs the suspend hooks. */
void admission_mpm_wait(conn_rec *c, bool to_write);

/** In the suspend hook. @return whether the MPM is about to wait, and not to
 *  close the connection. */
static inline bool admission_mpm_is_waiting(const conn_rec *c)
{
    return c->cs->state != CONN_STATE_LINGER;
}

/**
 * In the resume hook: prepare the connection for process_connection.
 *
 * @return 0 if the MPM wanted to close it: by its clock, its timeout has passed.
 */
bool admission_mpm_resume(conn_rec *c);

/** @return whether a handler of this connection returned SUSPENDED. */
static inline bool admission_mpm_is_suspended(const conn_rec *c)
{
    return c->cs->state == CONN_STATE_SUSPENDED;
}

/** A handler that was called here has returned SUSPENDED: it ends the request by
 *  itself, from a thread or a callback of its own. */
static inline void admission_mpm_suspend(conn_rec *c)
{
    c->cs->state = CONN_STATE_SUSPENDED;
}

/** The connection is handed to a handler, as at its first call. */
static inline void admission_mpm_begin_handler(conn_rec *c)
{
    c->cs->state = CONN_STATE_HANDLER;
}

/** @return this process's place in the scoreboard; -1: not known. */
int admission_mpm_slot(void);

/** @return whether the MPM may stop accepting and not notice that its workers are
 *  idle again, whenever the busy ones park a request: httpd before 2.4.53. Later
 *  ones oversleep now and then, when workers become idle while the listener goes
 *  through many connections at once: with no other event until one who is parked
 *  runs out of time. Look at it with admission_mpm_keep_accepting(), soon or in
 *  each round. */
bool admission_mpm_oversleeps(void);

/**
 * Wake a listener that has stopped accepting: it goes on if a worker is idle. For
 * one thread of a child; takes no lock of ours and does not block.
 *
 * @return whether it accepts, or need not any more; if not, look again later.
 */
bool admission_mpm_keep_accepting(void);

#endif
