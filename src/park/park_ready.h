/* park_ready.h - wait without a worker until a client can be written to, or
 * read from (event MPM).
 *
 * For what is kept of an answer (spool_rest.c), and for a body that has not
 * come yet (spool_body.c). The MPM polls the client's socket; where it can
 * poll only for reading, a stand-in takes the socket's place.
 */
#ifndef PARK_READY_H
#define PARK_READY_H

#include <httpd.h>

#include "park_alarm.h"
#include "park_stand_in.h"

typedef enum admission_ready_state_t {
    ADMISSION_READY_IDLE,
    ADMISSION_READY_LEAVING, /* its worker is about to leave */
    ADMISSION_READY_AWAY,    /* the MPM polls */
    ADMISSION_READY_BACK     /* a worker is there */
} admission_ready_state_t;

/** What became of a request when its connection had a worker again. */
typedef enum admission_went_t {
    ADMISSION_WENT_NOWHERE, /* there was none */
    ADMISSION_WENT_ON,      /* it has been finished, or goes on elsewhere: the
                             * connection may not be there any more */
    ADMISSION_WENT_AWAY     /* it waits once more: let the MPM wait */
} admission_went_t;

/** One a connection, used again. Only the thread that has the connection touches
 *  it. */
typedef struct admission_ready_t {
    conn_rec *c;
    admission_ready_state_t state;
    bool to_write;
    bool is_counted;     /* as a transfer, in the shared memory */
    adm_usec_t since;    /* the client was last ready then */
    adm_usec_t timeout;  /* Timeout, of one server or the other */
    bool is_last_chance; /* the client was not ready for as long as that */
    admission_stand_in_t stand_in;
    bool has_stand_in;
    bool has_alarm; /* it is woken when the client is not ready, too */
    admission_alarm_t alarm;
    bool (*go_on)(
        struct admission_ready_t *ready); /* a worker is there; whether
                                                     * it leaves once more */
    void *data;                           /* its own */
} admission_ready_t;

/** Begin: count it. @return NULL if there is no room for more connections without a
 *  worker. Only where admission_resume_is_possible(). */
admission_ready_t *admission_ready_begin(const request_rec *r,
                                         bool (*go_on)(admission_ready_t *),
                                         void *data);

/** Wait, after all hooks have returned. @return whether it can be done; if not,
 *  nothing has changed. */
bool admission_ready_wait(admission_ready_t *ready, bool to_write);

/** The client was ready: Timeout begins again. */
static inline void admission_ready_note(admission_ready_t *ready)
{
    ready->since = adm_now();
    ready->is_last_chance = false;
}

/** It waits no more. */
void admission_ready_end(admission_ready_t *ready);

/** @return whether this connection is about to wait so; and for what. */
bool admission_ready_is_leaving(const conn_rec *c);
bool admission_ready_polls_to_write(const conn_rec *c);

/** Of the MPM, in this order; nothing for connections that do not wait so. */
void admission_ready_suspend(conn_rec *c);
void admission_ready_resume(conn_rec *c);
admission_went_t admission_ready_goes_on(conn_rec *c);

#endif
