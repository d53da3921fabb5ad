/* park_lot.h - the parked requests of this child.
 *
 * Between park.c, which knows the MPM, and park_lot.c,
 * which knows slots and the dispatcher thread.
 */
#ifndef PARK_LOT_H
#define PARK_LOT_H

#include "park_stand_in.h"
#include "module/visit.h"

typedef enum admission_parked_t {
    ADMISSION_NOT_PARKED,
    ADMISSION_LEAVING, /* its worker is about to leave, the socket is itself */
    ADMISSION_PARKED,  /* the socket's number is that of the stand-in */
    ADMISSION_LOOKING  /* a worker looks whether it goes on; keeps its slot */
} admission_parked_t;

/** Where and why a visit is parked. In its connection's pool. */
typedef struct admission_parking_t {
    conn_rec *c;
    request_rec *r;
    const char *handler; /* httpd resets r->handler when the handler returns */
    adm_usec_t began;
    adm_usec_t deadline; /* of the wait in the queue */
    bool ignores_end;    /* the end of what the client sends says nothing */

    /* Of the lot. Guarded by its mutex; `state` is written only by the thread
     * that has the connection, and may be read by that without. */
    admission_parked_t state;
    uint32_t slot;
    adm_usec_t look_at; /* wake the connection then in any case */
    bool is_woken;
    bool is_readable; /* the MPM was told so, and no worker has come */
    admission_stand_in_t stand_in;
} admission_parking_t;

/** Make room and start the dispatcher. A child of @a threads workers, once. Nobody
 *  is parked with a descriptor of the number @a descriptors or above. */
apr_status_t admission_lot_open(adm_child_t *child, uint32_t slots,
                                uint32_t threads, apr_int64_t descriptors,
                                apr_pool_t *pchild);

/** @return the number that no descriptor of ours may have, nor a higher one. */
apr_int64_t admission_lot_descriptors(void);

/** A worker is about to leave its connection for another reason than a permit: see
 *  that the MPM goes on accepting, admission_mpm_oversleeps(). */
void admission_lot_mind_listener(void);

/**
 * Before a connection begins to wait without a worker. Where the child is about to end
 * one that nobody polls would be cut when it exits. Whoever is parked is polled, and
 * the listener stays for it, and for all that count beside it. A child that is about
 * to end keeps nothing in reserve from this look on, adm_worker_accept_no_more(), so
 * that who is not polled can block.
 *
 * @return whether the MPM polls a connection that begins to wait now.
 */
bool admission_lot_is_polled(void);

/** @return whether this process has a lot: not one that it was forked from. */
bool admission_lot_is_open(void);

/**
 * LOOKING, or NOT_PARKED if there is room and it would be polled -> LEAVING: everything
 * that can fail is done here, and the ticket counts as parked.
 *
 * @param patience  look at it again after this time at the latest
 * @return whether it worked; if not, a state of LOOKING stays.
 */
bool admission_lot_enter(admission_visit_t *visit, adm_usec_t patience);

/** LEAVING -> PARKED: the worker leaves. */
void admission_lot_swap_out(admission_parking_t *parking);

/** PARKED or LEAVING -> LOOKING: a worker is back. */
void admission_lot_swap_in(admission_parking_t *parking);

/** -> NOT_PARKED, from any state. */
void admission_lot_leave(admission_parking_t *parking);

#endif
