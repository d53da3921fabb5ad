/* adm/ticket.h - one request: enter, wait, leave; its programs.
 * Included by adm.h. Include adm.h, not this file.
 */
#ifndef ADM_PUBLIC_TICKET_H
#define ADM_PUBLIC_TICKET_H

#include "base.h"
#include "child.h"
#include "core/adm_outcome.h"

/** Time between two checks of a blocked request for a lost client, dead
 *  children and unused permits. If many wait it is longer, up to
 *  ADM_WAIT_SLICES_MAX times, so that all checks together cost about the same:
 *  adm_ticket_slice(). */
#define ADM_WAIT_SLICE_USEC (150 * ADM_USEC_PER_MSEC)
#define ADM_WAIT_SLICES_MAX 4

/** Time in which a granted request must start, or it can lose its permit to
 *  another request that can run. Each permit lost in this way lengthens the
 *  zone's next lease by this time, up to ten times, until a request starts. */
#define ADM_LEASE_USEC (100 * ADM_USEC_PER_MSEC)

/** A request in a zone. The caller's memory; zero it before adm_ticket_enter().
 *  Must stay valid until it is released or cancelled. */
typedef struct adm_ticket_t {
    adm_child_t *child;
    uint32_t zone_idx;
    uint32_t idx;
    uint64_t arrival;
    bool uses_worker; /* its entry's worker is ADM_WORKER_ONE */
    bool has_worker;  /* private, like the next two */
    bool is_blocked;
    bool is_parked;
    bool finds_no_room;    /* no connections are left to block with */
    atomic_uint held;      /* 1 from enter to release or cancel */
    apr_status_t fault;    /* reason of ADM_UNLIMITED */
    uint32_t queued_ahead; /* length of the queue at arrival */
    /* If rejected: estimated time until the queue has drained, or until the
     * request would not be late. */
    adm_usec_t drain_usec;
} adm_ticket_t;

/** How a request waits. */
typedef enum adm_wait_t {
    ADM_WAIT_NEVER,   /* a permit immediately, or none */
    ADM_WAIT_BLOCKED, /* on its thread, and with its worker, if it uses one */
    ADM_WAIT_PARKED   /* without one: call adm_ticket_park() */
} adm_wait_t;

/** Order of requests in a zone with flows. While all priorities wait, requests
 *  are served in a ratio of 16 (high) to 4 to 1. */
typedef enum adm_priority_t {
    ADM_PRIORITY_NORMAL,
    ADM_PRIORITY_HIGH,
    ADM_PRIORITY_LOW,
    ADM_PRIORITIES /* number of priorities */
} adm_priority_t;

/** Maximum length of a key's name, which is shown. A longer name is cut. */
#define ADM_KEY_NAME 31

/** What a request that enters a zone specifies. The part for flows is ignored
 *  unless adm_segment_use_flows() has enabled them. */
typedef struct adm_entry_t {
    adm_wait_t wait;
    adm_worker_t worker;
    uint32_t queue_length; /* requests that can wait, by its section */
    /* Reject the request if its estimated wait is longer; 0: never. */
    adm_usec_t target_usec;
    bool dry_run; /* always runs; what the limit would do is only counted */

    /* Only for zones with flows. */
    uint64_t key;         /* keys take turns; 0: none */
    const char *key_name; /* shown to administrators; NULL: "" */
    uint32_t key_max;     /* permits that its key may hold; 0: unlimited */
    uint32_t cost;        /* permits that it needs; 0 counts as 1 */
    adm_priority_t priority;
} adm_entry_t;

/**
 * Enter a zone. If a permit is free, this takes one lock and no system call.
 *
 * @param ticket  represents the request if the outcome is ADM_WAITING, or to
 *                run with a permit. End it with adm_ticket_release() or, while
 *                it waits, adm_ticket_cancel().
 *
 * @return ADM_ADMITTED    a permit
 *         ADM_WAITING     queued: go on with adm_ticket_outcome(),
 *                         adm_ticket_sleep()
 *         ADM_DRY_QUEUED  dry run: runs, would have waited
 *         ADM_DRY_FULL    dry run: runs, would have been rejected
 *         ADM_DRY_LATE    dry run: runs, would have been rejected as late
 *         ADM_FULL        no permit, and no queue slot or ADM_WAIT_NEVER
 *         ADM_LATE        no permit, and the estimated wait exceeds its target
 *         ADM_SHARE       no permit, and its key has no more queue slots
 *         ADM_RESERVE     the workers left are reserved for other requests
 *         ADM_PARKING     the connections left are kept for other requests
 *         ADM_DRAIN       an administrator drains the zone
 *         ADM_FLEET       this server has no share of the limit
 *         ADM_UNLIMITED   not counted, for the reason in @a ticket's fault, such
 *                         as ADM_ZONE_BUSY (a process was stopped while it held
 *                         the zone's lock): let the request run
 */
adm_outcome_t adm_ticket_enter(adm_child_t *child, adm_zone_t zone,
                               const adm_entry_t *entry, adm_usec_t now,
                               adm_ticket_t *ticket);

/** @return whether a new request would find neither a permit nor a queue slot.
 *  A hint: a few atomic loads, no lock. */
bool adm_zone_seems_full(const adm_child_t *child, adm_zone_t zone,
                         uint32_t queue_length);

/** Count a request that runs without a permit because it is exempt. Waits
 *  briefly for the zone; if that is not enough, the request is not counted. */
void adm_zone_count_exempt(adm_child_t *child, adm_zone_t zone);

/** @return the time between two checks of a blocked request, in microseconds.
 *  No lock. */
adm_usec_t adm_ticket_slice(const adm_ticket_t *ticket);

/**
 * Decide whether the wait of a queued ticket has ended, parked or blocked. Does
 * not check its client. Starts the request if the ticket was granted, as
 * adm_ticket_begin() does; can wait briefly for the zone's lock.
 *
 * @return ADM_WAITING    not ended
 *         ADM_WAITED     granted, and started
 *
 *         Otherwise cancel the ticket with this outcome:
 *
 *         ADM_STOPPED    the child stops
 *         ADM_TIMEOUT    @a deadline has passed
 *         ADM_FLEET      this server gets no share of the limit
 *         ADM_UNLIMITED  for the reason in @a ticket's fault: ADM_ZONE_BUSY (a
 *                        stopped process holds the lock: nothing is granted)
 *                        or ADM_BAD_SEGMENT (the ticket was overwritten)
 */
adm_outcome_t adm_ticket_outcome(adm_ticket_t *ticket, adm_usec_t deadline,
                                 adm_usec_t now);

/** @return whether adm_ticket_outcome() will probably end the wait before its
 *  deadline. A few atomic loads, no lock. */
bool adm_ticket_seems_over(const adm_ticket_t *ticket, adm_usec_t now);

/** Sleep until the ticket is granted, for one slice at most, and not beyond
 *  @a until. Blocks the calling thread; can return early. */
void adm_ticket_sleep(const adm_ticket_t *ticket, adm_usec_t until);

/**
 * Let a ticket that was to be parked wait with a worker instead.
 *
 * @return ADM_WAITING: go on with adm_ticket_outcome(); ADM_PARKING: no workers
 *         or connections are left, and the ticket has ended and counts as
 *         rejected
 */
adm_outcome_t adm_ticket_block(adm_ticket_t *ticket, adm_usec_t now);

/**
 * Start the request, if its ticket was granted. Call it in the thread that runs
 * the request. Until then the permit is only on lease, and can be passed on.
 *
 * @return whether the request has started, now or before; if not it waits, at
 *         its old position in the queue
 */
bool adm_ticket_begin(adm_ticket_t *ticket, adm_usec_t now);

/** @return whether the ticket holds a permit, which it can lose until it has
 *  started. One atomic load. */
bool adm_ticket_is_granted(const adm_ticket_t *ticket);

/** @return whether the ticket is in use, and its permit has not moved to
 *  another request (adm_successor_take()). No lock. */
bool adm_ticket_holds(const adm_ticket_t *ticket);

/**
 * Leave the queue. A ticket that was granted in the meantime keeps its permit,
 * unless @a outcome is to drop the connection. If the zone cannot be locked,
 * the next owner of its lock ends the ticket.
 *
 * @return @a outcome: the ticket has ended and counts as that; ADM_WAITED: it
 *         holds a permit
 */
adm_outcome_t adm_ticket_cancel(adm_ticket_t *ticket, adm_outcome_t outcome,
                                adm_usec_t now);

/** Release the permit, which goes to the first in the queue. Any thread of the
 *  child may call this, any number of times: the first call counts. Does
 *  nothing in a fork of the child. If the zone cannot be locked, the next owner
 *  of its lock releases the permit. */
void adm_ticket_release(adm_ticket_t *ticket, adm_usec_t now);

/** Release the permit before the response is complete: as adm_ticket_release(),
 *  but the worker counts as occupied until adm_ticket_return_worker(). */
void adm_ticket_release_permit(adm_ticket_t *ticket, adm_usec_t now);

/** Return the worker, because its thread leaves the request. The permit, if
 *  held, stays. Does nothing if the ticket has no worker, or in a fork of the
 *  child. Only for the thread that has the request. */
void adm_ticket_return_worker(adm_ticket_t *ticket);

/** Take a worker again, even if none is left: the thread stays after all. Only
 *  for the thread that has the request. */
void adm_ticket_take_worker(adm_ticket_t *ticket);

/** @return whether the ticket holds a permit or a worker, or waits for one. */
bool adm_ticket_is_in_use(const adm_ticket_t *ticket);

/** Leave the permit to a program that lives on: as adm_ticket_release(), or with
 *  @a keeps_worker as adm_ticket_release_permit(), but the permit is released
 *  when the program has ended: the agent polls for that. A grace period bounds
 *  it only if the PID is not known. */
void adm_ticket_abandon(adm_ticket_t *ticket, bool keeps_worker,
                        adm_usec_t now);

/* ---- parked tickets, which wait without a thread --------------------------- */

/** Maximum number of parked tickets per child. */
#define ADM_PARK_SLOTS 16384

/** Park a waiting ticket: its grant rings the child's doorbell with @a slot
 *  (below ADM_PARK_SLOTS) instead of waking a thread. */
void adm_ticket_park(adm_ticket_t *ticket, uint32_t slot);

/** End parking: the ticket continues in the calling worker, granted or not. Its
 *  slot can ring once more. */
void adm_ticket_unpark(adm_ticket_t *ticket);

/** @return until when the dispatcher can sleep, if the doorbell does not
 *  ring. */
typedef adm_usec_t (*adm_until_t)(void);

/**
 * Sleep until the doorbell rings, or until what @a until returns. Blocks the
 * calling thread; only one thread per child may call this.
 *
 * @param until  called right before the sleep, and only then. To change what it
 *               reads, first change it, then call adm_doorbell_ring(): the
 *               sleep ends, and no change is missed.
 * @param slots  filled with the slots that rang
 * @return the number of slots, at most @a max; 0 if only the time or
 *         adm_doorbell_ring() ended the sleep
 */
uint32_t adm_doorbell_wait(adm_child_t *child, adm_until_t until,
                           uint32_t *slots, uint32_t max);

/** Make adm_doorbell_wait() of this child return. One system call. */
void adm_doorbell_ring(adm_child_t *child);

/* ---- the programs that a request starts ------------------------------------ */

/** Size of a token, with its NUL. */
#define ADM_TOKEN_LENGTH 64

/** Environment variable that carries the token. */
#define ADM_TOKEN_VARIABLE "ADMISSION_TICKET"

/** Install the fork handlers. A new process gives up its parent's registration;
 *  if it becomes a program that was announced, it records its PID in the ticket
 *  and unblocks all signals. Only for the parent, before its first fork:
 *  children and mod_cgid's daemon inherit the handlers. */
apr_status_t adm_program_watch_forks(adm_segment_t *segment);

/** Test whether a process that starts a program with APR can find the program's
 *  token. Only for the parent, after adm_program_watch_forks(); forks once and
 *  waits for that process. */
bool adm_program_try_token(apr_pool_t *pool);

/** Do not search for tokens in the calling process: its forks are no programs
 *  of tickets. For a child that does not register. */
void adm_program_start_none(void);

/** Write the token of a ticket, for a program's environment. A daemon that
 *  starts the program finds the ticket by it; the program does not see it. The
 *  token is secret: a process that knows one can forge others. */
void adm_program_token(const adm_ticket_t *ticket, char text[ADM_TOKEN_LENGTH]);

/** Which process starts a program. */
typedef enum adm_start_t {
    ADM_START_HERE,     /* the calling thread, with its next fork */
    ADM_START_BY_TOKEN, /* a daemon, which gets the token */
    ADM_START_UNSEEN    /* another one: the PID will not be known */
} adm_start_t;

/** Announce a program: the calling thread is about to start it for this ticket,
 *  or to request it from a daemon. From now on, if the child dies, the program
 *  keeps the permit until it has ended or its grace period is over. Waits a few
 *  milliseconds if the ticket's previous program is just ending. */
void adm_program_announce(adm_ticket_t *ticket, adm_start_t start);

/** Withdraw the announcement: no program was started, and later forks of the
 *  calling thread start none. */
void adm_program_withdraw(void);

/** @return whether a program was announced for this ticket. */
bool adm_program_was_announced(const adm_ticket_t *ticket);

/** @return whether all programs of this ticket have ended, or end within a few
 *  milliseconds; false if that is unknown. If true, none can start any more.
 *  Makes system calls. */
bool adm_program_has_ended(const adm_ticket_t *ticket);

/** @return whether the PID of each announced program is recorded once it has
 *  started, so that the agent can notice its end. */
bool adm_program_is_seen(const adm_ticket_t *ticket);

/** Call after the request was destroyed and httpd has ended its programs.
 *  @return whether a program of this ticket is still alive: httpd cannot end a
 *  program of another user, or one whose PID it does not know. If false, none
 *  can start any more. Makes system calls. */
bool adm_program_outlives_request(const adm_ticket_t *ticket);

/** Let programs of this process and of later ones inherit @a fd. While any
 *  program has it open, other servers treat this server as alive. 0 or less:
 *  none. Only for the parent, at each load. */
void adm_program_leave_open(int fd);

/* ---- move a permit to a request that the server sends to itself ------------ */

typedef enum adm_successor_t {
    /* The name matches no ticket of the zone, or the zone cannot be locked. */
    ADM_SUCCESSOR_NONE,
    ADM_SUCCESSOR_ENDED, /* its ticket holds no permit any more */
    ADM_SUCCESSOR_KEPT, /* not moved: only checked, or its program still runs */
    ADM_SUCCESSOR_MOVED
} adm_successor_t;

/** Size of a name, with its NUL. */
#define ADM_TICKET_NAME_LENGTH 32

/** Name a ticket, for adm_successor_take(). The name is not secret and can be
 *  forged: the caller signs it. */
void adm_ticket_name(const adm_ticket_t *ticket,
                     char text[ADM_TICKET_NAME_LENGTH]);

/**
 * Move the permit of another ticket, of any child, to @a successor. The other
 * ticket ends; its later release does nothing. If its program still runs, it
 * keeps its permit. Waits for the zone's lock as long as a request that enters.
 * Makes system calls only if the ticket had a program.
 *
 * @param name  from adm_ticket_name()
 * @param successor  holds the permit after ADM_SUCCESSOR_MOVED, without a
 *                   worker of its own; NULL: only check
 */
adm_successor_t adm_successor_take(adm_child_t *child, adm_zone_t zone,
                                   const char *name, adm_usec_t now,
                                   adm_ticket_t *successor);

#endif
