/* park_mpm.h - let the MPM wait for a connection without a worker.
 *
 * The only files that name connection states. There are two ways, chosen at run
 * time, so that one binary serves every httpd:
 *
 *   WAITIO      httpd 2.4.63 and later: CONN_STATE_ASYNC_WAITIO
 *   completion  older: WRITE_COMPLETION with nothing to write, and
 *               CONN_SENSE_WANT_READ. The MPM polls the socket, then calls us.
 */
#ifndef PARK_MPM_H
#define PARK_MPM_H

#include <stdbool.h>

#include <httpd.h>

#include <ap_mpm.h>

#include "core/adm.h"
#include "module/capacity.h"

/** Choose the way. Called by the parent, at each configuration load, and by
 *  DUMP_ADMISSION. `-D ADMISSION_COMPLETION` forces the older way. */
void admission_mpm_choose(void);

/** @return the name of the way for the log; NULL if this MPM cannot wait. */
const char *admission_mpm_way(void);

/** @return how long the MPM waits at least: the shorter Timeout of the virtual
 *  host and of the base server. The MPM's version decides which one applies. */
adm_usec_t admission_mpm_timeout(const request_rec *r);

/** Register a filter that old versions need. Once, with the hooks. */
void admission_mpm_register_filter(void);

/** @return whether the MPM writes the rest of a response without a worker. */
bool admission_mpm_is_async(void);

/** Write what the connection's filters hold back, as the MPM does, without
 *  waiting. @return whether the client has taken all, and is connected. */
bool admission_mpm_flush(conn_rec *c);

/** @return whether the MPM can wait until a socket is writable, even if it has
 *  nothing to write itself. */
bool admission_mpm_waits_to_write(void);

/** @return false if this child is about to end. Its listener then exits as soon
 *  as it counts no connection, and a new connection counts only when a worker
 *  takes it. The connection might therefore never be polled, see
 *  admission_lot_is_polled(). */
static inline bool admission_mpm_is_running(void)
{
    return admission_capacity_query(AP_MPMQ_MPM_STATE, AP_MPMQ_RUNNING)
           != AP_MPMQ_STOPPING;
}

/** Let the MPM wait until the socket is readable, or writable. Call in
 *  process_connection after a handler has returned SUSPENDED. The MPM then runs
 *  the suspend hooks. */
void admission_mpm_wait(conn_rec *c, bool to_write);

/** @return whether the MPM is about to wait, instead of closing the connection.
 *  For the suspend hook. */
static inline bool admission_mpm_is_waiting(const conn_rec *c)
{
    return c->cs->state != CONN_STATE_LINGER;
}

/**
 * Prepare the connection for process_connection. For the resume hook.
 * @return false if the MPM was about to close it, because Timeout has passed by
 *         the MPM's clock.
 */
bool admission_mpm_resume(conn_rec *c);

/** @return whether a handler of this connection has returned SUSPENDED. */
static inline bool admission_mpm_is_suspended(const conn_rec *c)
{
    return c->cs->state == CONN_STATE_SUSPENDED;
}

/** Record that a handler has returned SUSPENDED to us, and will finish the
 *  request from its own thread or callback. */
static inline void admission_mpm_suspend(conn_rec *c)
{
    c->cs->state = CONN_STATE_SUSPENDED;
}

/** Set the state in which httpd calls a handler the first time. */
static inline void admission_mpm_start_handler(conn_rec *c)
{
    c->cs->state = CONN_STATE_HANDLER;
}

/** @return this process's slot in the scoreboard; -1 if unknown. Searches the
 *  scoreboard at the first call. */
int admission_mpm_slot(void);

/**
 * @return whether the MPM can miss that workers are idle again, after it has
 *         stopped accepting. Before httpd 2.4.53 this happens whenever busy
 *         workers park a request: check with admission_mpm_keep_accepting()
 *         soon after.
 *
 * Later versions miss it rarely, if workers become idle while the listener
 * processes many connections. Check those in each round.
 */
bool admission_mpm_oversleeps(void);

/**
 * Wake a listener that has stopped accepting: it accepts if a worker is idle.
 * Call from one thread per child. Takes no lock of the module, and does not
 * block.
 * @return whether the listener accepts, or need not any more. If false, check
 *         again later.
 */
bool admission_mpm_keep_accepting(void);

#endif
