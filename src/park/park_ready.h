/* park_ready.h - wait for a client without a worker: until it can be written
 * to, or read from (event MPM).
 *
 * Used for the buffered rest of a response (spool_rest.c), and for a request
 * body that has not arrived yet (spool_body.c). The MPM polls the client's
 * socket. If it can poll only for reading, a stand-in takes the socket's place.
 */
#ifndef PARK_READY_H
#define PARK_READY_H

#include <httpd.h>

#include "park_ready_alarm.h"
#include "park_stand_in.h"

typedef enum admission_ready_state_t {
    ADMISSION_READY_IDLE,
    ADMISSION_READY_LEAVING, /* its worker is about to leave */
    ADMISSION_READY_AWAY,    /* the MPM polls */
    ADMISSION_READY_BACK     /* it has a worker again */
} admission_ready_state_t;

/** Result of continuing a request whose connection has a worker again. */
typedef enum admission_continued_t {
    ADMISSION_NONE_WAITED, /* no request was waiting */
    ADMISSION_CONTINUED,   /* finished, or continued elsewhere: the connection
                             * might no longer exist */
    ADMISSION_WAITS_AGAIN  /* it waits again: let the MPM wait */
} admission_continued_t;

/** A connection's wait for its client. One per connection, reused. Only the
 *  thread that has the connection accesses it. */
typedef struct admission_ready_t {
    conn_rec *c;
    admission_ready_state_t state;
    bool to_write;
    bool is_counted;     /* as a transfer, in shared memory */
    adm_usec_t since;    /* when the client was last ready */
    adm_usec_t timeout;  /* the shorter one of the two servers */
    bool is_last_chance; /* the client was not ready for `timeout` */
    admission_stand_in_t stand_in;
    bool has_alarm; /* wakes it periodically, too */
    admission_alarm_t alarm;
    /* Called with a worker. Returns whether the request waits again. */
    bool (*resume)(struct admission_ready_t *ready);
    void *data; /* for resume */
} admission_ready_t;

/**
 * Start a transfer, and count it. Only if admission_resume_is_possible().
 * @param resume  called each time the connection has a worker again
 * @param data    for resume
 * @return NULL if the child has no capacity for more connections without a
 *         worker, or is about to end.
 */
admission_ready_t *admission_ready_begin(const request_rec *r,
                                         bool (*resume)(admission_ready_t *),
                                         void *data);

/**
 * Wait for the client after all hooks have returned.
 * @return whether it can; if not, nothing has changed: the timeout has passed,
 *         or descriptors are short.
 */
bool admission_ready_wait(admission_ready_t *ready, bool to_write);

/** The client was ready: restart the timeout. */
static inline void admission_ready_note(admission_ready_t *ready)
{
    ready->since = adm_now();
    ready->is_last_chance = false;
}

/** End the transfer. */
void admission_ready_end(admission_ready_t *ready);

/** @return whether this connection is about to wait for its client. */
bool admission_ready_is_leaving(const conn_rec *c);

/** @return whether the MPM must poll this connection for writing. */
bool admission_ready_polls_to_write(const conn_rec *c);

/** Called in this order from the hooks of the MPM; no effect on connections
 *  that do not wait for their client. */
void admission_ready_suspend(conn_rec *c);
void admission_ready_resume(conn_rec *c);
admission_continued_t admission_ready_continue(conn_rec *c);

#endif
