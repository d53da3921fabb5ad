/* park_lot.c - the parked requests of this child.
 *
 * While a request is parked, the MPM polls a stand-in for its socket
 * (park_stand_in.c). One thread, the dispatcher, sleeps on the child's
 * doorbell. It wakes the requests whose permit was granted, whose deadline has
 * passed, or that are due for a check.
 */
#include <pthread.h>
#include <signal.h>

#include <apr_thread_proc.h>

#include "park_ready_alarm.h"
#include "park_lease.h"
#include "park_lot.h"
#include "park_mpm.h"

/* Interval at which the dispatcher checks all parked requests. */
#define ROUND_USEC ADM_USEC_PER_SEC

/* Shortest time between two checks: bounds the cost of many deadlines. */
#define TICK_USEC (50 * ADM_USEC_PER_MSEC)

/* Interval while no request is parked. */
#define IDLE_USEC (10 * ADM_USEC_PER_SEC)

/* Time from the parking of a request to a check of the listener. By then its
 * worker is idle, and the MPM has noticed that or missed it. */
#define CHECK_USEC (20 * ADM_USEC_PER_MSEC)

/* How long granted requests wait for a worker before others must give up
 * theirs. */
#define PATIENCE_USEC ADM_USEC_PER_SEC

/* How long a request can leave its permit unused before its zone is checked:
 * longer than a busy worker needs to become idle. */
#define GRACE_USEC (20 * ADM_USEC_PER_MSEC)

#define NEVER INT64_MAX

/* The mutex is held for a few system calls at most, and never together with
 * another lock. */
static struct {
    pthread_mutex_t mutex;
    adm_child_t *child;
    admission_visit_t **visits; /* by slot */
    uint32_t *free_slots;
    uint32_t free_count;
    uint32_t size;     /* number of slots */
    uint32_t used;     /* slots from this one on were never used */
    uint32_t readable; /* made readable, but no worker has come yet */
    uint32_t readable_max;
    uint32_t next_held_back; /* slot */
    bool holds_back;         /* some are woken but not readable */
    adm_usec_t next_round;
    adm_usec_t next_listener_check;
    adm_usec_t listener_until; /* check the listener often until then */
    /* Time since which parked requests of this child hold permits that no other
     * request can use, and no worker has become free for any of them. 0: there
     * are no such requests. */
    adm_usec_t lacking_since;
    apr_thread_t *dispatcher;
    atomic_bool is_closing;
} lot = { .mutex = PTHREAD_MUTEX_INITIALIZER, .next_listener_check = NEVER };

bool admission_lot_is_open(void)
{
    return lot.child && adm_child_is_self(lot.child);
}

admission_visit_t *admission_lot_find(const conn_rec *c,
                                      admission_parked_t state)
{
    admission_visit_t *visit = admission_visit_first(c);

    while (visit && !(visit->parking && visit->parking->state == state)) {
        visit = visit->next;
    }
    return visit;
}

/* ---- slots --------------------------------------------------------------- */

/* @return false if all slots are in use. */
static bool take_slot_locked(admission_visit_t *visit)
{
    uint32_t slot;

    if (lot.free_count == 0) {
        return false;
    }
    slot = lot.free_slots[--lot.free_count];
    lot.visits[slot] = visit;
    visit->parking->slot = slot;
    if (slot >= lot.used) {
        lot.used = slot + 1;
    }
    return true;
}

static void free_slot_locked(const admission_parking_t *parking)
{
    lot.visits[parking->slot] = NULL;
    lot.free_slots[lot.free_count++] = parking->slot;
}

/* ---- wake and restore ---------------------------------------------------- */

/* Make a woken request readable for the MPM, at most readable_max at a time:
 * the listener waits for a worker for each of them. A stop ends that wait, and
 * if no worker has run yet, event overwrites a connection in its full queue
 * (docs/dev/decisions/0017).
 *
 * None after a hard stop: the workers have exited, and the listener would wait
 * half a second for each connection. The requests end with the child. */
static void wake_locked(admission_parking_t *parking)
{
    if (parking->state != ADMISSION_PARKED || !parking->is_woken
        || parking->is_readable || adm_child_is_stopping(lot.child)) {
        return;
    }
    if (lot.readable == lot.readable_max) {
        lot.holds_back = true;
        return;
    }
    if (!admission_stand_in_wake(&parking->stand_in)) {
        parking->is_woken = false; /* the next check of all tries again */
        return;
    }
    parking->is_readable = true;
    lot.readable++;
}

/* Make held-back requests readable until readable_max is reached. Start behind
 * the slot where the previous call stopped, so that each slot gets its turn.
 * holds_back stays set unless all slots have been checked. */
static void wake_held_back_locked(void)
{
    uint32_t checked = 0;

    while (lot.holds_back && lot.readable < lot.readable_max) {
        lot.next_held_back = (lot.next_held_back + 1) % lot.used;
        if (lot.visits[lot.next_held_back]) {
            wake_locked(lot.visits[lot.next_held_back]->parking);
        }
        lot.holds_back = ++checked < lot.used;
    }
}

/* Let the MPM poll the request's socket again. The request has a worker, so
 * another one can be made readable. */
static void restore_socket_locked(admission_parking_t *parking)
{
    lot.readable -= parking->is_readable;
    parking->is_readable = parking->is_woken = false;
    wake_held_back_locked();
    if (parking->state == ADMISSION_PARKED) {
        admission_stand_in_yield(&parking->stand_in, parking->c);
    }
    admission_stand_in_close(&parking->stand_in);
}

/* ---- will the MPM poll? -------------------------------------------------- */

/* As admission_lot_is_polled(). */
static bool is_polled_locked(void)
{
    if (admission_mpm_is_running()) {
        return true;
    }
    if (lot.child) {
        adm_worker_accept_no_more(lot.child);
    }
    return lot.free_count < lot.size;
}

bool admission_lot_is_polled(void)
{
    bool is_polled;

    pthread_mutex_lock(&lot.mutex);
    is_polled = is_polled_locked();
    pthread_mutex_unlock(&lot.mutex);
    return is_polled;
}

/* ---- in and out ---------------------------------------------------------- */

static adm_usec_t earlier(adm_usec_t one, adm_usec_t other)
{
    return one < other ? one : other;
}

static adm_usec_t next_wake_locked(void)
{
    return earlier(lot.next_round, lot.next_listener_check);
}

/* Set the times of the next checks. @return whether the dispatcher sleeps for
 * too long and must be woken. */
static bool schedule_locked(admission_parking_t *parking)
{
    adm_usec_t now = adm_now();
    adm_usec_t next = next_wake_locked();

    /* The MPM closes a connection that waits for longer than Timeout, and a
     * woken connection might have to wait for a worker. */
    parking->check_at = earlier(now + admission_mpm_timeout(parking->r) / 2,
                                parking->deadline);
    lot.next_round = earlier(lot.next_round,
                             earlier(now + ROUND_USEC, parking->check_at));
    if (admission_mpm_oversleeps()) {
        lot.next_listener_check = earlier(lot.next_listener_check,
                                          now + CHECK_USEC);
    }
    return next_wake_locked() < next;
}

bool admission_lot_enter(admission_visit_t *visit)
{
    admission_parking_t *parking = visit->parking;
    bool has_slot, has_to_ring = false;

    if (!admission_stand_in_open(&parking->stand_in, parking->c)) {
        return false;
    }
    pthread_mutex_lock(&lot.mutex);
    has_slot = parking->state == ADMISSION_CHECKING
               || (is_polled_locked() && adm_worker_has_room(lot.child)
                   && take_slot_locked(visit));
    if (has_slot) {
        parking->state = ADMISSION_LEAVING;
        parking->is_woken = false;
        has_to_ring = schedule_locked(parking);
        /* Under the mutex: the next request must see this one counted. */
        adm_ticket_park(&visit->ticket, parking->slot);
    }
    pthread_mutex_unlock(&lot.mutex);
    if (!has_slot) {
        admission_stand_in_close(&parking->stand_in);
        return false;
    }
    if (has_to_ring) {
        adm_doorbell_ring(lot.child);
    }
    return true;
}

void admission_lot_watch_listener(void)
{
    adm_usec_t next, check_at;

    if (!admission_mpm_oversleeps()) {
        return;
    }
    check_at = adm_now() + CHECK_USEC;
    pthread_mutex_lock(&lot.mutex);
    next = next_wake_locked();
    lot.next_listener_check = earlier(lot.next_listener_check, check_at);
    pthread_mutex_unlock(&lot.mutex);
    if (check_at < next) {
        adm_doorbell_ring(lot.child);
    }
}

void admission_lot_swap_out(admission_parking_t *parking)
{
    pthread_mutex_lock(&lot.mutex);
    if (parking->state == ADMISSION_LEAVING) {
        admission_stand_in_take(&parking->stand_in);
        parking->state = ADMISSION_PARKED;
        wake_locked(parking); /* if it was granted in the meantime */
    }
    pthread_mutex_unlock(&lot.mutex);
}

void admission_lot_swap_in(admission_parking_t *parking)
{
    pthread_mutex_lock(&lot.mutex);
    restore_socket_locked(parking);
    parking->state = ADMISSION_CHECKING;
    lot.lacking_since = 0;
    pthread_mutex_unlock(&lot.mutex);
}

void admission_lot_leave(admission_parking_t *parking)
{
    pthread_mutex_lock(&lot.mutex);
    if (parking->state != ADMISSION_NOT_PARKED) {
        free_slot_locked(parking);
        restore_socket_locked(parking);
        parking->state = ADMISSION_NOT_PARKED;
    }
    pthread_mutex_unlock(&lot.mutex);
}

/* ---- the dispatcher ------------------------------------------------------ */

/* Handle a ring: the slot's ticket was granted; or another child's ticket in
 * its zone, and this child is appointed as guard (adm_hand_over.c). */
static void handle_ring(uint32_t slot)
{
    admission_visit_t *visit;
    adm_zone_t zone = { 0 };
    bool is_granted = false;

    pthread_mutex_lock(&lot.mutex);
    visit = slot < lot.size ? lot.visits[slot] : NULL;
    /* The ring can be for the slot's previous ticket, so the grant is
     * checked. */
    if (visit) {
        zone = visit->zone->handle;
        is_granted = adm_ticket_is_granted(&visit->ticket);
        if (is_granted && !visit->parking->is_woken) {
            visit->parking->is_woken = true;
            wake_locked(visit->parking);
        }
    }
    pthread_mutex_unlock(&lot.mutex);
    if (zone.idx) {
        admission_lease_watch(zone, adm_now() + (is_granted ? GRACE_USEC : 0));
    }
}

/* Wake the request if its wait is over, or if it is due for a check by a
 * worker. @return when the dispatcher must check next: @a next, or earlier. */
static adm_usec_t check_locked(admission_visit_t *visit, adm_usec_t now,
                               adm_usec_t next)
{
    admission_parking_t *parking = visit->parking;

    admission_lease_watch(visit->zone->handle, now);
    if (parking->is_woken) {
        return next;
    }
    if (now >= parking->check_at
        || adm_ticket_seems_over(&visit->ticket, now)) {
        parking->is_woken = true;
        wake_locked(parking);
        return next;
    }
    return parking->check_at < next ? parking->check_at : next;
}

/* Check all parked requests: for their deadlines, and for grants without a
 * ring, because the granting process was killed. */
static void check_all(void)
{
    adm_usec_t now = adm_now();
    adm_usec_t next;
    uint32_t slot;

    pthread_mutex_lock(&lot.mutex);
    next = now + (lot.free_count == lot.size ? IDLE_USEC : ROUND_USEC);
    for (slot = 0; slot < lot.used; slot++) {
        if (lot.visits[slot]) {
            next = check_locked(lot.visits[slot], now, next);
        }
    }
    lot.next_round = next > now + TICK_USEC ? next : now + TICK_USEC;
    lot.next_listener_check = now;
    pthread_mutex_unlock(&lot.mutex);
}

/* @return the number of granted requests that are woken and lack a worker. */
static uint32_t count_granted_locked(void)
{
    uint32_t slot, granted = 0;

    for (slot = 0; slot < lot.used; slot++) {
        const admission_visit_t *visit = lot.visits[slot];

        granted += visit && visit->parking->is_woken
                   && visit->parking->state == ADMISSION_PARKED
                   && adm_ticket_is_granted(&visit->ticket);
    }
    return granted;
}

/* @return the number of threads that blocked requests of this child must give
 * up: one for each granted request, if none of these got a worker for
 * PATIENCE_USEC. Usually a blocked request frees its worker in that time. */
static uint32_t count_lacking(bool has_room, adm_usec_t now)
{
    uint32_t granted;
    bool is_over;

    pthread_mutex_lock(&lot.mutex);
    granted = has_room ? 0 : count_granted_locked();
    if (granted == 0) {
        lot.lacking_since = 0;
    }
    else if (lot.lacking_since == 0) {
        lot.lacking_since = now;
    }
    is_over = granted && now - lot.lacking_since >= PATIENCE_USEC;
    pthread_mutex_unlock(&lot.mutex);
    return is_over ? granted : 0;
}

/* Check the zones that are due. Before, tell other processes whether this child
 * has a worker for a granted request; if not, they pass on its permits.
 * Afterwards, record how many granted requests still lack a worker. */
static void check_zones(adm_child_t *child, adm_usec_t now)
{
    bool has_room;

    if (admission_lease_next(now + 1) <= now) {
        pthread_mutex_lock(&lot.mutex);
        has_room = lot.readable == 0; /* no request waits for a worker */
        pthread_mutex_unlock(&lot.mutex);
        has_room = has_room || admission_lease_has_idle_worker();
        adm_child_note_room(child, has_room);
        admission_lease_check(child, now);
        /* If permits stay unused, blocked requests of this child must give up
         * their threads. */
        adm_worker_note_lacking(child, count_lacking(has_room, now));
    }
}

static adm_usec_t guarded(const adm_usec_t *time)
{
    adm_usec_t value;

    pthread_mutex_lock(&lot.mutex);
    value = *time;
    pthread_mutex_unlock(&lot.mutex);
    return value;
}

/* Wake the listener if it has stopped accepting. It will probably stop again,
 * so it is checked every CHECK_USEC for a while. The next check is cleared
 * first, because a request that parks in the meantime can set it. */
static void check_listener(adm_usec_t now)
{
    bool accepts;

    pthread_mutex_lock(&lot.mutex);
    lot.next_listener_check = NEVER;
    pthread_mutex_unlock(&lot.mutex);
    accepts = admission_mpm_keep_accepting();
    pthread_mutex_lock(&lot.mutex);
    if (!accepts && admission_mpm_oversleeps()) {
        lot.listener_until = now + ROUND_USEC;
    }
    if (now < lot.listener_until) {
        lot.next_listener_check = earlier(lot.next_listener_check,
                                          now + CHECK_USEC);
    }
    pthread_mutex_unlock(&lot.mutex);
}

/* When the dispatcher must wake up. A thread that makes this earlier rings the
 * doorbell afterwards. */
static adm_usec_t sleep_until(void)
{
    adm_usec_t next = earlier(guarded(&lot.next_round),
                              guarded(&lot.next_listener_check));

    return atomic_load(&lot.is_closing)
               ? 0
               : admission_alarm_next(admission_lease_next(next));
}

#define RINGS_MAX 256

/* The dispatcher thread: runs until the child closes the lot. */
static void *APR_THREAD_FUNC dispatch(apr_thread_t *thread, void *data)
{
    adm_child_t *child = data;
    uint32_t slots[RINGS_MAX];

    while (!atomic_load(&lot.is_closing)) {
        uint32_t i,
            count = adm_doorbell_wait(child, sleep_until, slots, RINGS_MAX);

        for (i = 0; i < count; i++) {
            handle_ring(slots[i]);
        }
        if (adm_now() >= guarded(&lot.next_round)) {
            adm_round_help(child, adm_now());
            check_all();
        }
        check_zones(child, adm_now());
        admission_alarm_ring_due();
        if (adm_now() >= guarded(&lot.next_listener_check)) {
            check_listener(adm_now());
        }
    }
    return NULL;
}

static apr_status_t close_lot(void *child)
{
    apr_status_t rv;

    atomic_store(&lot.is_closing, true);
    adm_doorbell_ring(child);
    apr_thread_join(&rv, lot.dispatcher);
    return APR_SUCCESS;
}

static void allocate_slots(uint32_t slots, apr_pool_t *pchild)
{
    uint32_t slot;

    lot.size = slots;
    lot.visits = apr_pcalloc(pchild, slots * sizeof(*lot.visits));
    lot.free_slots = apr_pcalloc(pchild, slots * sizeof(*lot.free_slots));
    for (slot = slots; slot > 0; slot--) {
        lot.free_slots[lot.free_count++] = slot - 1; /* lowest on top */
    }
}

apr_status_t admission_lot_open(adm_child_t *child, uint32_t slots,
                                uint32_t threads, apr_int64_t descriptor_limit,
                                apr_pool_t *pchild)
{
    sigset_t all, old;
    apr_status_t rv;

    admission_stand_in_limit(descriptor_limit);
    lot.readable_max = (threads + 1) / 2;
    allocate_slots(slots, pchild);
    admission_alarm_open(child, threads);
    /* Signals must go to the MPM's threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rv = apr_thread_create(&lot.dispatcher, NULL, dispatch, child, pchild);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rv == APR_SUCCESS) {
        lot.child = child;
        apr_pool_pre_cleanup_register(pchild, child, close_lot);
    }
    return rv;
}
