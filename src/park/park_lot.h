/* park_lot.h - the parked requests of this child.
 *
 * park.c calls the lot from the MPM's hooks. The lot assigns slots, polls
 * placeholders and wakes requests from its dispatcher thread. Functions lock
 * the lot's mutex for a few system calls at most.
 */
#ifndef PARK_LOT_H
#define PARK_LOT_H

#include "park_stand_in.h"
#include "module/visit.h"

typedef enum admission_parked_t {
    ADMISSION_NOT_PARKED,
    ADMISSION_LEAVING, /* its worker is about to leave; the MPM polls the
                        * socket */
    ADMISSION_PARKED,  /* no worker; the MPM polls the stand-in */
    ADMISSION_CHECKING /* a worker checks whether it can run; keeps its slot */
} admission_parked_t;

/** Where and why a visit is parked. Allocated from its connection's pool. */
typedef struct admission_parking_t {
    conn_rec *c;
    request_rec *r;
    const char *handler; /* httpd resets r->handler when the handler returns */
    adm_usec_t started;
    adm_usec_t deadline; /* end of the wait in the queue */

    /* Owned by the lot and guarded by its mutex. `state` is written only by the
     * thread that has the connection, which can read it without the mutex. */
    admission_parked_t state;
    uint32_t slot;
    adm_usec_t check_at; /* wake the connection then at the latest */
    bool is_woken;
    bool is_readable; /* made readable for the MPM, but no worker has come
                       * yet */
    admission_stand_in_t stand_in;
} admission_parking_t;

/**
 * Open the lot: allocate its slots and start the dispatcher. Once per child.
 * @param slots    maximum of parked requests
 * @param threads  workers of this child
 * @param descriptor_limit  parking uses no descriptor of this number or
 *         higher
 * @return an error if the dispatcher cannot be started; the lot stays closed.
 */
apr_status_t admission_lot_open(adm_child_t *child, uint32_t slots,
                                uint32_t threads, apr_int64_t descriptor_limit,
                                apr_pool_t *pchild);

/** @return the connection's visit that is parked in this state; NULL: none. */
admission_visit_t *admission_lot_find(const conn_rec *c,
                                      admission_parked_t state);

/** Check soon that the MPM still accepts. Call when a worker leaves a
 *  connection that is not parked, see admission_mpm_oversleeps(). */
void admission_lot_watch_listener(void);

/**
 * Test whether the MPM would poll a connection that starts to wait now. A child
 * that is about to end polls it only while it has parked requests, because
 * these keep its listener running. Otherwise the connection would be cut when
 * the child exits.
 *
 * If the child is about to end, the call also ends the reserve of workers and
 * connections (adm_worker_accept_no_more()), so that a request that cannot be
 * polled can block.
 * @return whether the connection would be polled.
 */
bool admission_lot_is_polled(void);

/** @return whether this process has opened a lot; false in processes that a
 *  child has forked. */
bool admission_lot_is_open(void);

/**
 * NOT_PARKED or CHECKING -> LEAVING: do everything that can fail, and park the
 * ticket. Fails if the child is out of slots, connections or descriptors, or
 * would not poll the connection.
 * @return whether it worked; if not, the state and the slot remain as they
 *         were.
 */
bool admission_lot_enter(admission_visit_t *visit);

/** LEAVING -> PARKED: the worker leaves. */
void admission_lot_swap_out(admission_parking_t *parking);

/** PARKED or LEAVING -> CHECKING: a worker is back. */
void admission_lot_swap_in(admission_parking_t *parking);

/** Any state -> NOT_PARKED: free the slot and restore the socket. */
void admission_lot_leave(admission_parking_t *parking);

#endif
