/* adm/ticket.h - one request: enter, wait, leave.
 * Included by adm.h, which is what others include.
 */
#ifndef ADM_PUBLIC_TICKET_H
#define ADM_PUBLIC_TICKET_H

#include "base.h"
#include "worker.h"
#include "core/adm_outcome.h"

/** A blocked waiter looks around this often (client gone, dead children, permits
 *  that nobody uses). Where many wait it is longer, up to ADM_WAIT_SLICES_MAX times,
 *  so that their looks together cost about the same: adm_ticket_slice(). */
#define ADM_WAIT_SLICE_USEC (150 * ADM_USEC_PER_MSEC)
#define ADM_WAIT_SLICES_MAX 4

/** A request that was handed a permit and does not run by then may lose it to another
 *  waiter that can run. Each permit that is lost so makes the zone's next lease longer by
 *  as much, up to ten times, until a winner runs. */
#define ADM_LEASE_USEC (100 * ADM_USEC_PER_MSEC)

/** One request in a zone. The caller's memory; zero it before adm_ticket_enter().
 *  Must stay valid until it is released or cancelled. */
typedef struct adm_ticket_t {
    adm_child_t *child;
    uint32_t zone_idx;
    uint32_t idx;
    uint64_t arrival;
    bool uses_worker; /* as it entered */
    bool has_worker;  /* private, as the next two: what it holds of its child */
    bool is_blocked;
    bool is_parked;
    bool is_settled;       /* runs or blocks with its worker */
    uint8_t program_nice;  /* by the caller: of programs that the ticket pays
                            * for, 0 to 19 */
    bool finds_no_room;    /* no connections are left to block with */
    atomic_uint held;      /* 1 from enter to release or cancel */
    apr_status_t fault;    /* why the outcome was ADM_UNLIMITED */
    uint32_t queued_ahead; /* length of the queue at arrival */
    adm_usec_t drain_usec; /* of a rejected one, estimate: when the queue will
                            * have drained, or one would not be late */
} adm_ticket_t;

/** How a request waits. */
typedef enum adm_wait_t {
    ADM_WAIT_NEVER,   /* a permit at once or none */
    ADM_WAIT_BLOCKED, /* on its thread, which holds the worker if it takes one */
    ADM_WAIT_PARKED   /* without one; adm_ticket_park() or adm_ticket_block() */
} adm_wait_t;

/** In which order a request is served while several priorities wait: as 16 to 4 to
 *  1. */
typedef enum adm_priority_t {
    ADM_PRIORITY_NORMAL,
    ADM_PRIORITY_HIGH,
    ADM_PRIORITY_LOW,
    ADM_PRIORITIES /* how many there are */
} adm_priority_t;

/** Room for the name of a key, as it is shown. What is longer is cut. */
#define ADM_KEY_NAME 31

/** What a request that enters a zone says of itself. What a zone has to be told
 *  by adm_segment_use_flows() is not looked at elsewhere. */
typedef struct adm_entry_t {
    adm_wait_t wait;
    adm_worker_t worker;
    uint32_t queue_length;  /* how many may wait in the zone, as it sees it */
    adm_usec_t target_usec; /* no place for it if it would have to wait longer;
                             * 0: any time */
    bool dry_run;           /* always runs; counts as if it did not */

    /* In a zone that uses flows. */
    uint64_t key;         /* keys take turns; 0: it has none */
    const char *key_name; /* shown to the administrator; NULL: "" */
    uint32_t key_max;     /* permits that its key may hold; 0: any number */
    uint32_t cost;        /* permits that it takes at once; 0 is 1 */
    adm_priority_t priority;
} adm_entry_t;

/**
 * Ask for a permit. The free-permit path takes one lock and no system call.
 *
 * @param ticket  stands for the request from now on if the outcome is to run
 *                with a permit or ADM_WAITING; then give it back with
 *                adm_ticket_release() or, while it waits, adm_ticket_cancel().
 *
 * @return ADM_ADMITTED    a permit
 *         ADM_WAITING     queued; wait: adm_ticket_outcome(), adm_ticket_sleep()
 *         ADM_DRY_QUEUED  dry run: runs, would have waited
 *         ADM_DRY_FULL    dry run: runs, would have been rejected
 *         ADM_FULL        no permit, and no place or no wish to wait
 *         ADM_LATE        no permit for longer than its target, by estimate
 *         ADM_DRY_LATE    dry run: runs, would have been rejected so
 *         ADM_SHARE       no permit, and its key has no more places in the queue
 *         ADM_RESERVE     the workers left are reserved for other requests
 *         ADM_PARKING     the connections left are kept for other requests
 *         ADM_UNLIMITED   it cannot be counted, for the reason in
 *                         @a ticket's fault, such as ADM_ZONE_BUSY, somebody
 *                         was stopped while holding the zone's lock: let it run
 */
adm_outcome_t adm_ticket_enter(adm_child_t *child, adm_zone_t zone,
                               const adm_entry_t *entry, adm_usec_t now,
                               adm_ticket_t *ticket);

/** @return whether a request that comes now would find neither a permit nor a place in
 *  the queue. A hint: a few atomic loads, no lock. */
bool adm_zone_seems_full(const adm_child_t *child, adm_zone_t zone,
                         uint32_t queue_length);

/** Count a request that runs without a permit because it is exempt. Not if the
 *  zone cannot be locked briefly. */
void adm_zone_count_exempt(adm_child_t *child, adm_zone_t zone);

/** @return how long a blocked waiter sleeps before it looks around, in microseconds.
 *  No lock. */
adm_usec_t adm_ticket_slice(const adm_ticket_t *ticket);

/**
 * Decide whether the wait of a queued ticket has ended, with a worker or without. Its
 * client is not looked at. Begins to run if the ticket was granted, as
 * adm_ticket_begin() does; may wait briefly for the zone's lock.
 *
 * @return ADM_WAITING  it has not ended
 *         ADM_WAITED   granted, and begun
 *         ADM_STOPPED, ADM_TIMEOUT, or ADM_FLEET, there is no share of a limit over
 *                      servers; ADM_UNLIMITED for the reason in @a ticket's fault:
 *                      ADM_ZONE_BUSY, its lock is out of reach, so nothing is granted;
 *                      ADM_BAD_SEGMENT, the ticket was taken away. The ticket is
 *                      still there: cancel it so.
 */
adm_outcome_t adm_ticket_outcome(adm_ticket_t *ticket, adm_usec_t deadline,
                                 adm_usec_t now);

/** @return whether adm_ticket_outcome() is likely to end the wait, before its deadline. A
 *  few atomic loads, no lock. */
bool adm_ticket_seems_over(const adm_ticket_t *ticket, adm_usec_t now);

/** Sleep until the ticket is granted, for a slice at most, and not beyond @a until.
 *  Blocks the calling thread; may return early. */
void adm_ticket_sleep(const adm_ticket_t *ticket, adm_usec_t until);

/**
 * A ticket that was to wait without a worker must hold one after all.
 *
 * @return ADM_WAITING: go on with adm_ticket_sleep(); or ADM_PARKING when there is
 *         no room for it: then the ticket has ended and counts as rejected; or
 *         ADM_WAITED, it was granted just now.
 */
adm_outcome_t adm_ticket_block(adm_ticket_t *ticket, adm_usec_t now);

/**
 * Begin to run, if the ticket was granted. The calling thread is the one that
 * will: before that the permit is only on lease, and may be passed on.
 *
 * @return whether it runs now, or ran already; else it waits, at its old place.
 */
bool adm_ticket_begin(adm_ticket_t *ticket, adm_usec_t now);

/** @return whether the ticket holds a permit, which it may lose as long as it has
 *  not begun. One atomic load. */
bool adm_ticket_is_granted(const adm_ticket_t *ticket);

/** @return whether the ticket is in use and its permit has not moved on to another
 *  request (adm_inherit()). No lock. */
bool adm_ticket_holds(const adm_ticket_t *ticket);

/**
 * Leave the queue. A ticket granted meanwhile is kept if @a outcome is to refuse
 * the request or to let it run, else it is released. If the zone cannot be
 * locked, whoever locks it next ends the ticket.
 *
 * @return @a outcome: the ticket has ended and is counted so; or ADM_WAITED: it
 *         was granted just now and still holds its permit.
 */
adm_outcome_t adm_ticket_cancel(adm_ticket_t *ticket, adm_outcome_t outcome,
                                adm_usec_t now);

/**
 * Give the permit back; it goes to the first in the queue. Any thread of the child
 * may call this, any number of times: the first one counts. In a process that
 * the child forked it does nothing. If the zone cannot be locked, whoever locks
 * it next gives the permit back.
 */
void adm_ticket_release(adm_ticket_t *ticket, adm_usec_t now);

/** The work is over, the answer is not: as adm_ticket_release(), only that the worker
 *  counts as occupied until adm_ticket_return_worker(). */
void adm_ticket_release_permit(adm_ticket_t *ticket, adm_usec_t now);

/** The worker that adm_ticket_release_permit() kept is free. Nothing is done if there
 *  is none, or if the permit is still held. Only for the thread that has the
 *  request. */
void adm_ticket_return_worker(adm_ticket_t *ticket);

/** @return whether the ticket holds a permit, waits for one, or keeps a worker. */
bool adm_ticket_is_in_use(const adm_ticket_t *ticket);

/**
 * The request has ended, but a program of it has not: as adm_ticket_release(),
 * only that the permit is free when the program has ended, or its time is up.
 */
void adm_ticket_abandon(adm_ticket_t *ticket, adm_usec_t now);

#endif
