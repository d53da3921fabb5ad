/* adm.h - counting semaphores with a line, shared by the children of a server.
 * Included by all who use the core.
 *
 * The whole interface of the core. A zone has permits; a request enters it,
 * waits in the queue when none is free, and gives the permit back. Everything lives
 * in one shared segment that survives the death of any process at any moment:
 * docs/shared-memory.md has the states, the invariants and the crash table.
 *
 * The core never logs and knows nothing of httpd. Time is a parameter, so that
 * tests can move it. Unless a comment says otherwise a function may be called
 * from any thread of a registered child, does not block but for the short
 * critical section of one zone, and allocates nothing. A process that is stopped
 * inside that section keeps the others out: they wait for ADM_LOCK_LONG_USEC at
 * most, or ADM_LOCK_BRIEF_USEC where the comment says briefly.
 */
#ifndef ADM_H
#define ADM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <apr_errno.h>
#include <apr_pools.h>

#include "adm_figures.h"
#include "adm_outcome.h"
#include "adm_time.h"

/** A blocked waiter looks around this often (client gone, dead children, permits
 *  that nobody uses). */
#define ADM_WAIT_SLICE_USEC (150 * ADM_USEC_PER_MSEC)

/** Who was handed a permit and has not begun by then may lose it to another waiter
 *  that can run. Each permit that is lost so makes the zone's next lease longer by
 *  as much, up to ten times, until a winner begins. */
#define ADM_LEASE_USEC (100 * ADM_USEC_PER_MSEC)

/** A request waits for the lock of a zone no longer than this. When a lock has
 *  been out of reach for so long, nobody waits for it longer than briefly. */
#define ADM_LOCK_LONG_USEC ADM_USEC_PER_SEC
#define ADM_LOCK_BRIEF_USEC (10 * ADM_USEC_PER_MSEC)

/** What goes wrong, besides the system's errors. */
#define ADM_NO_TICKET (APR_OS_START_USERERR + 3104) /* ticket table is full */
#define ADM_NO_ZONE (APR_OS_START_USERERR + 3105)   /* zone table is full */
#define ADM_NO_CHILD (APR_OS_START_USERERR + 3106)  /* child table is full */
#define ADM_ZONE_RETIRED \
    (APR_OS_START_USERERR + 3107)                   /* no longer configured */
#define ADM_LOCK_LOST (APR_OS_START_USERERR + 3108) /* lock beyond repair */
#define ADM_BAD_SEGMENT \
    (APR_OS_START_USERERR + 3109) /* other version, or torn */
#define ADM_INTERRUPTED (APR_OS_START_USERERR + 3110) /* own critical section */
#define ADM_ZONE_BUSY (APR_OS_START_USERERR + 3113) /* lock held for too long */

/** A segment, as this process sees it. Private memory, inherited by fork. */
typedef struct adm_segment_t adm_segment_t;

/** This process, registered in a segment. */
typedef struct adm_child_t adm_child_t;

/** Names a zone. Plain value: copy it, keep it in configurations. */
typedef struct adm_zone_t {
    uint32_t idx;         /* 0: none */
    uint32_t incarnation; /* which of the zones that had this place */
} adm_zone_t;

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
    bool finds_no_room;    /* no connections are left to block with */
    atomic_uint held;      /* 1 from enter to release or cancel */
    apr_status_t fault;    /* why the outcome was ADM_UNLIMITED */
    uint32_t queued_ahead; /* length of the queue at arrival */
    adm_usec_t drain_usec; /* of a rejected one, estimate: when the queue will
                            * have drained */
} adm_ticket_t;

/* ---- clock ------------------------------------------------------------- */

/** @return now on the core's clock (CLOCK_MONOTONIC). No system call where the
 *  kernel offers it without. */
adm_usec_t adm_now(void);

/* ---- segment: the parent ----------------------------------------------- */

/** Capacity of a segment. Fixed for its life; unused room costs no memory. */
typedef struct adm_sizes_t {
    uint32_t zones;
    uint32_t children;
    uint32_t tickets; /* rounded up to whole chunks */
} adm_sizes_t;

/** Version of everything in the segment and of its handle, with their sizes: part
 *  of the key under which a parent keeps a segment over restarts, also over those
 *  that load another build of the module. */
uint32_t adm_segment_version(void);

/**
 * Make a segment: anonymous shared memory, inherited by every later child.
 *
 * The parent, before the first fork. The handle and the mapping live in
 * @a pool; nothing of the segment is unmapped while a child may use it, so
 * give a pool that lives as long as the process.
 *
 * @return APR_SUCCESS, APR_EINVAL (a size of 0 or beyond what the layout can
 *         number) or the system's reason.
 */
apr_status_t adm_segment_create(adm_segment_t **segment,
                                const adm_sizes_t *sizes, apr_pool_t *pool);

/** The room that it was created with. */
adm_sizes_t adm_segment_sizes(const adm_segment_t *segment);

/** How many bytes of address space the segment takes. */
size_t adm_segment_bytes(const adm_segment_t *segment);

/** Give the mapping back. Only for tests and for a segment no child has seen. */
void adm_segment_destroy(adm_segment_t *segment);

/**
 * Begin a configuration load: zones that are not configured before the next
 * adm_segment_end_load() are retired then.
 */
void adm_segment_begin_load(adm_segment_t *segment);

/**
 * Find the zone called @a name, or make it, and set its numbers. The new
 * numbers hold at once for every child of every generation.
 *
 * The parent, between begin_load and end_load. Takes no lock. The name is
 * copied into private memory.
 *
 * @return APR_SUCCESS, or ADM_NO_ZONE when the table is full (of zones that
 *         are configured or were until lately).
 */
apr_status_t adm_segment_configure(adm_segment_t *segment, const char *name,
                                   uint32_t limit, uint32_t queue_length,
                                   adm_zone_t *zone);

/**
 * End a configuration load.
 *
 * @param worker_cap         workers that requests of all zones may occupy
 * @param orphan_hold_usec   how long the permit of a dead child is kept at
 *                           most for a program that it left behind
 */
void adm_segment_end_load(adm_segment_t *segment, uint32_t worker_cap,
                          adm_usec_t orphan_hold_usec);

/**
 * Note that a child process has ended, for whatever reason, and wake the agent.
 * Takes no lock.
 *
 * The parent. A pid that is not registered is ignored.
 */
void adm_child_ended(adm_segment_t *segment, pid_t pid);

/* ---- the agent: one process makes the rounds of all --------------------- */

/** @return whether the agent is at work: it was within the last 3 s. If not,
 *  children make rounds themselves. One atomic load. */
bool adm_agent_is_at_work(const adm_segment_t *segment, adm_usec_t now);

/** There is no agent from now on. The agent at its end, or the parent when it
 *  finds it dead. Takes no lock, reads nothing. Async-signal-safe. */
void adm_agent_gone(adm_segment_t *segment);

/** Have the agent make a round now. Any process; takes no lock, reads nothing
 *  that matters. One system call. Async-signal-safe. */
void adm_agent_wake(adm_segment_t *segment);

/* ---- children ---------------------------------------------------------- */

/**
 * Register the calling process, and take back what dead ones held, unless the
 * agent does.
 *
 * The main thread of a new child, which must live as long as the process: its
 * life is what others take for the child's.
 *
 * @return APR_SUCCESS, ADM_NO_CHILD, ADM_BAD_SEGMENT (its header is not what
 *         this code wrote).
 */
apr_status_t adm_child_register(adm_child_t **child, adm_segment_t *segment,
                                uint32_t generation, apr_pool_t *pool);

/** At most this many workers of the child may block at once or be occupied by
 *  adm_worker_occupy(). A thread that waits beside one of those does not count.
 *  Unlimited unless set. */
void adm_worker_limit_blocked(adm_child_t *child, uint32_t max);

/** For a server that accepts fewer connections the more of its threads are busy:
 *  one for each parked request, and @a per_worker for each worker held, running
 *  or blocked. A request finds room to wait while this child takes no more than
 *  @a budget, or all children of its generation no more than @a server_budget.
 *  Unlimited unless set. */
void adm_worker_limit_connections(adm_child_t *child, uint32_t budget,
                                  uint32_t server_budget, uint32_t per_worker);

/** @return whether one more request may be parked in this child. Looks at the
 *  other children only when this one has used its own budget. No lock. */
bool adm_worker_has_room(const adm_child_t *child);

/** From now on waits of this child end with ADM_STOPPED. Async-signal-safe. */
void adm_child_stop(adm_child_t *child);

/** @return whether adm_child_stop() was called. */
bool adm_child_is_stopping(const adm_child_t *child);

/** @return whether the caller is the process that registered, and not
 *  something that it forked. No system call. */
bool adm_child_is_self(const adm_child_t *child);

/**
 * Look around: mark and reap dead children, free the permits of programs that
 * have ended, hand out what a raised limit allows.
 *
 * Cheap when there is nothing to do; the full round is made when a death was
 * announced, when the last is a second old, or when @a by_force is true.
 * System calls only for orphaned programs. Hold no lock. Waits briefly, and once
 * a round, for zones whose lock is held; those are visited a slice later.
 *
 * @return how many tickets of dead children were taken back.
 */
uint32_t adm_round(adm_child_t *child, adm_usec_t now, bool by_force);

/** The same, not by force, unless the agent is at work: then one atomic load. What
 *  children call. */
uint32_t adm_round_help(adm_child_t *child, adm_usec_t now);

/** The same before figures are shown: a full round, but one in 100 ms at most
 *  over all children, however many look. None while the agent is at work. */
uint32_t adm_round_to_show(adm_child_t *child, adm_usec_t now);

/** @return when this process has to make its next round at the latest. */
adm_usec_t adm_round_next(const adm_child_t *child);

/* ---- permits ----------------------------------------------------------- */

/** How a request waits. */
typedef enum adm_wait_t {
    ADM_WAIT_NEVER,   /* a permit at once or none */
    ADM_WAIT_BLOCKED, /* on its thread, which holds the worker if it takes one */
    ADM_WAIT_PARKED   /* without one; adm_ticket_park() or adm_ticket_block() */
} adm_wait_t;

/** What running takes of the server's workers. */
typedef enum adm_worker_t {
    ADM_WORKER_NONE, /* or one that is counted already */
    ADM_WORKER_ONE,
    ADM_WORKER_DENIED, /* none, and the caller knows that it may have none */
    ADM_WORKER_NO_ROOM /* none: no connections are left for it */
} adm_worker_t;

/** What a request that enters a zone says of itself. */
typedef struct adm_entry_t {
    adm_wait_t wait;
    adm_worker_t worker;
    uint32_t queue_length; /* how many may wait in the zone, as it sees it */
    bool dry_run;          /* always runs; counts as if it did not */
} adm_entry_t;

/**
 * Ask for a permit. The free-permit path takes one lock and no system call.
 *
 * @param ticket  stands for the request from now on if the outcome is to run
 *                with a permit or ADM_WAITING; then give it back with
 *                adm_ticket_release() or, while it waits, adm_ticket_cancel().
 *
 * @return ADM_ADMITTED    a permit
 *         ADM_WAITING     queued; wait with adm_ticket_wait()
 *         ADM_DRY_QUEUED  dry run: runs, would have waited
 *         ADM_DRY_FULL    dry run: runs, would have been rejected
 *         ADM_FULL        no permit, and no place or no wish to wait
 *         ADM_RESERVE     the workers left are reserved for other requests
 *         ADM_PARKING     the connections left are kept for other requests
 *         ADM_UNLIMITED   it cannot be counted, for the reason in
 *                         @a ticket's fault, such as ADM_ZONE_BUSY, somebody
 *                         was stopped while holding the zone's lock: let it run
 */
adm_outcome_t adm_ticket_enter(adm_child_t *child, adm_zone_t zone,
                               const adm_entry_t *entry, adm_usec_t now,
                               adm_ticket_t *ticket);

/**
 * A worker is occupied for as long as any of several requests runs or waits, each
 * on a thread of its own: those of one HTTP/2 connection. The first of them calls
 * this before it enters, the last one adm_worker_vacate() when it has left. The
 * worker may have to wait for permits, so it counts as one that blocks. No lock.
 *
 * @return what each of these requests enters with: ADM_WORKER_NONE, the worker is
 *         counted; ADM_WORKER_DENIED, the workers left are reserved, or those of
 *         this child for parked requests; or ADM_WORKER_NO_ROOM, the connections
 *         left are kept for others. Only the first one is to be vacated.
 */
adm_worker_t adm_worker_occupy(adm_child_t *child);

/** The worker that adm_worker_occupy() counted is free. Any thread of the child. */
void adm_worker_vacate(adm_child_t *child);

/** Count a request that runs without a permit because it is exempt. Not if the
 *  zone cannot be locked briefly. */
void adm_zone_count_exempt(adm_child_t *child, adm_zone_t zone);

/** Count a request that runs without a permit because none could be counted. */
void adm_segment_count_unlimited(adm_segment_t *segment);

/**
 * Sleep until the ticket is granted, the child stops or @a until is reached.
 * Blocks the calling thread.
 *
 * @return ADM_WAITED (granted, and begun), ADM_WAITING (it is @a until),
 *         ADM_STOPPED, or ADM_UNLIMITED for the reason in @a ticket's fault: ADM_ZONE_BUSY,
 *         nobody will grant it (adm_ticket_is_stuck()); ADM_BAD_SEGMENT,
 *         somebody took it away. Then cancel it so, and let the request run.
 */
adm_outcome_t adm_ticket_wait(adm_ticket_t *ticket, adm_usec_t until);

/**
 * A ticket that was to wait without a worker must hold one after all.
 *
 * @return ADM_WAITING: go on with adm_ticket_wait(); or ADM_PARKING when there is
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

/** @return whether the lock of the ticket's zone seems to be held by a process
 *  that is stopped. One atomic load; ask adm_ticket_is_stuck() before acting. */
bool adm_ticket_seems_stuck(const adm_ticket_t *ticket, adm_usec_t now);

/** @return whether nobody hands out permits of the ticket's zone: its lock has
 *  been out of reach for ADM_LOCK_LONG_USEC, and is so now. Then it is the
 *  ticket's fault. Waits briefly. */
bool adm_ticket_is_stuck(adm_ticket_t *ticket, adm_usec_t now);

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

/**
 * The request has ended, but a program of it has not: as adm_ticket_release(),
 * only that the permit is free when the program has ended, or its time is up.
 */
void adm_ticket_abandon(adm_ticket_t *ticket, adm_usec_t now);

/* ---- leases -------------------------------------------------------------- */

/** Tell whether a parked ticket of this child could begin if it was granted. A
 *  hint: other children's waiters go first while it could not. */
void adm_child_note_room(adm_child_t *child, bool has_idle_worker);

/**
 * Pass on what was handed over in this zone and is not used: when the lease is
 * over, or its child has no room. Takes the zone's lock only if there may be some.
 *
 * @return when to look again; 0: nothing is waited for.
 */
adm_usec_t adm_lease_look(adm_child_t *child, adm_zone_t zone, adm_usec_t now);

/** The same for all zones, for a process that needs not be a child. It must be
 *  one that may take locks: never the parent. */
adm_usec_t adm_lease_round(adm_segment_t *segment, adm_usec_t now);

/* ---- parked tickets: waiting without a thread ---------------------------- */

/** A child cannot have more tickets parked at once. */
#define ADM_PARK_SLOTS 16384

/**
 * From now on the grant of this waiting ticket rings the child's doorbell
 * with @a slot (below ADM_PARK_SLOTS) instead of waking a thread.
 */
void adm_ticket_park(adm_ticket_t *ticket, uint32_t slot);

/** The parked ticket goes on in a worker, granted or not. Its slot may ring
 *  once more. */
void adm_ticket_unpark(adm_ticket_t *ticket);

/** @return until when there is nothing to do but for the doorbell. */
typedef adm_usec_t (*adm_until_t)(void *data);

/**
 * Sleep until the doorbell rings, adm_doorbell_ring() or what @a until returns.
 * Blocks the calling thread; one thread a child.
 *
 * @param until  called with @a data right before the sleep, and only then.
 *               Whoever changes what it reads, and rings afterwards, ends the
 *               sleep: no change between the call and the sleep is missed.
 * @param slots  filled with the slots that rang
 * @return how many, at most @a max; 0 when only the time or a ring without
 *         slot ended the wait.
 */
uint32_t adm_doorbell_wait(adm_child_t *child, adm_until_t until, void *data,
                           uint32_t *slots, uint32_t max);

/** Make adm_doorbell_wait() of this child return. */
void adm_doorbell_ring(adm_child_t *child);

/* ---- programs that a request starts -------------------------------------- */

/** Longest text of adm_program_token(), with its end. */
#define ADM_TOKEN_LENGTH 64

/** Name of the environment variable that carries the token. */
#define ADM_TOKEN_VARIABLE "ADMISSION_TICKET"

/**
 * Register what each fork from now on does in the new process: give up the
 * registration; for a program that was announced, note its pid in the ticket
 * and unblock all signals. The parent, before the first fork: children and
 * mod_cgid's daemon inherit it.
 */
apr_status_t adm_program_watch_forks(adm_segment_t *segment);

/**
 * Try whether a process that starts a program with APR can be told by its token
 * for which ticket. The parent, after adm_program_watch_forks(); forks once and
 * waits for the end of that process.
 */
bool adm_program_try_token(apr_pool_t *pool);

/** Whatever the calling process forks is no program of a ticket: it is not taken
 *  for a daemon that starts some. For a child that does not register. */
void adm_program_start_none(void);

/**
 * The text by which a daemon that starts a program knows the ticket, for the
 * program's environment; the program does not see it. It is a secret: who
 * knows it can write another one.
 */
void adm_program_token(const adm_ticket_t *ticket, char text[ADM_TOKEN_LENGTH]);

/** Who starts a program. */
typedef enum adm_start_t {
    ADM_START_HERE,     /* the calling thread forks next for it */
    ADM_START_BY_TOKEN, /* a daemon, which gets the token */
    ADM_START_UNSEEN    /* somebody else: its pid will not be known */
} adm_start_t;

/**
 * The calling thread is about to start a program for this ticket, or to have it
 * started. From now on the permit outlives the child for as long as the program
 * may live. Waits a few milliseconds if an earlier program of the ticket is just
 * ending.
 */
void adm_program_announce(adm_ticket_t *ticket, adm_start_t start);

/** What the calling thread forks from now on is not the announced program:
 *  nobody started it. */
void adm_program_withdraw(void);

/** @return whether a program was announced for this ticket. */
bool adm_program_was_announced(const adm_ticket_t *ticket);

/**
 * @return whether every program of this ticket has provably ended, or does so in
 * a few milliseconds; then none can start any more. Makes system calls. Where it
 * cannot be known, the answer is false.
 */
bool adm_program_has_ended(const adm_ticket_t *ticket);

/**
 * @return whether a program of this ticket lives on although its request has
 * been destroyed, and httpd has ended what it could: that may be another user's,
 * or nobody told httpd its pid. If not, none can start any more. Makes system
 * calls.
 */
bool adm_program_outlives_request(const adm_ticket_t *ticket);

/* ---- recycling: whose turn it is to end ------------------------------------ */

/** No more children can be away at once. */
#define ADM_TURNS_MAX 64

/**
 * How many connections the calling child may serve: one number of min..max for
 * each new child, such that any that follow each other are spread evenly.
 */
uint32_t adm_recycle_quota(adm_segment_t *segment, uint32_t min, uint32_t max);

/**
 * Ask for the turn to end. At most @a together (up to ADM_TURNS_MAX) children
 * have one at a time, from now until a child has taken their place.
 *
 * @return whether the child may end; it has to do so soon.
 */
bool adm_recycle_take_turn(adm_child_t *child, uint32_t together,
                           adm_usec_t now);

/** The calling child is new and ready: one that ended is away no longer. */
void adm_recycle_take_place(adm_child_t *child, adm_usec_t now);

/** Count a child that ends because its quota is used up, where nobody takes
 *  turns. */
void adm_recycle_count(adm_segment_t *segment);

/** @return whether anybody waits in any zone. */
bool adm_view_has_waiters(const adm_segment_t *segment);

/* ---- what an administrator sees ------------------------------------------ */

/** One consistent copy of what a zone is and counts. */
typedef struct adm_zone_stats_t {
    uint32_t limit;
    uint32_t queue_length; /* as the last request saw it */
    uint32_t active;       /* permits given out */
    uint32_t orphans;      /* of these, held by programs whose child is dead */
    uint32_t queued;
    adm_usec_t oldest_wait_usec;
    adm_figures_t figures;
} adm_zone_stats_t;

/** The last ten minutes, the newest second last. */
#define ADM_HISTORY_SECONDS 600

typedef struct adm_history_t {
    uint32_t active[ADM_HISTORY_SECONDS]; /* most at once in that second */
    uint32_t queued[ADM_HISTORY_SECONDS];
    uint64_t rejected[ADM_HISTORY_SECONDS]; /* for any reason, until its end */
} adm_history_t;

/**
 * Copy a zone's figures, and what it remembers, at one moment under its lock,
 * for which it waits briefly.
 *
 * @param history  NULL: not wanted; that saves a copy of 5 KB under the lock.
 * @return APR_SUCCESS, or why it cannot be done, such as ADM_ZONE_BUSY or
 *         ADM_ZONE_RETIRED: then nothing was written.
 */
apr_status_t adm_view_zone(adm_child_t *child, adm_zone_t zone, adm_usec_t now,
                           adm_zone_stats_t *stats, adm_history_t *history);

/**
 * @return whether the ticket of this token holds a permit of the zone now. A
 * token that is no token is none. Waits briefly for the zone.
 */
bool adm_view_is_running(adm_child_t *child, adm_zone_t zone, const char *token,
                         adm_usec_t now);

typedef struct adm_server_stats_t {
    uint32_t worker_cap;      /* workers that zones may occupy together */
    uint32_t workers_held;    /* that they do occupy */
    uint32_t workers_blocked; /* of these, only waiting */
    uint32_t blocked;         /* waiting with a thread, also one of HTTP/2's */
    uint32_t parked;          /* waiting without a worker */
    uint64_t unlimited;       /* requests let through because of a fault */
    bool has_agent;           /* that is at work */
    uint64_t recycled; /* children that ended because their quota was used */
    uint32_t away;     /* of these, not replaced yet */
    adm_usec_t away_max_usec; /* the longest time that one was */
} adm_server_stats_t;

/** Sum up the living children. */
void adm_view_server(adm_segment_t *segment, adm_server_stats_t *stats);

/**
 * @return whether no process of the server was told so of this zone and outcome
 * within @a interval. Idx 0 of @a zone: of no zone in particular.
 */
bool adm_zone_may_log(adm_segment_t *segment, adm_zone_t zone,
                      adm_outcome_t outcome, adm_usec_t now,
                      adm_usec_t interval);

/* ---- for tests ------------------------------------------------------------ */

/**
 * Verify every invariant of docs/shared-memory.md. Nobody else may be at work.
 * @return NULL, or what is wrong, in static memory.
 */
const char *adm_check(adm_segment_t *segment);

#endif
