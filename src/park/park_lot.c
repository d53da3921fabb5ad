/* park_lot.c - the parked requests of this child.
 *
 * While a request is parked, the MPM polls a stand-in for its socket
 * (park_stand_in.c).
 *
 * One thread, the dispatcher, sleeps on the child's doorbell and wakes those
 * who were granted a permit, whose time is up, or at whom a look is due.
 */
#include <pthread.h>
#include <signal.h>

#include <apr_thread_proc.h>

#include "park_alarm.h"
#include "park_lease.h"
#include "park_lot.h"
#include "park_mpm.h"

/* The dispatcher visits all parked requests this often, whatever happens. */
#define ROUND_USEC ADM_USEC_PER_SEC

/* Not more often than this for the sake of deadlines. */
#define TICK_USEC (50 * ADM_USEC_PER_MSEC)

/* And this often while nobody is parked. */
#define IDLE_USEC (10 * ADM_USEC_PER_SEC)

/* When a worker that parks a request is idle, so that it can be seen whether the
 * MPM has noticed. */
#define LOOK_USEC (20 * ADM_USEC_PER_MSEC)

/* So long no worker comes for a permit before another request gives one up. */
#define PATIENCE_USEC ADM_USEC_PER_SEC

#define NEVER INT64_MAX

/* The mutex is held for a few system calls at most, and never together with
 * another lock. */
static struct {
    pthread_mutex_t mutex;
    adm_child_t *child;
    admission_visit_t **visits; /* by slot */
    uint32_t *free_slots;
    uint32_t free_count;
    uint32_t size; /* slots */
    uint32_t used; /* slots that were ever used are below */
    apr_int64_t descriptors;
    uint32_t readable; /* no worker has come for them yet */
    uint32_t readable_max;
    uint32_t next_held_back; /* slot */
    bool holds_back;         /* some were woken and are not readable */
    adm_usec_t next_round;
    adm_usec_t next_look; /* at the MPM's listener */
    adm_usec_t look_until;
    adm_usec_t
        lacking_since; /* a permit that nobody else can use has no worker,
                               * and none has come for any other; 0: none lacks */
    apr_thread_t *dispatcher;
    atomic_bool is_closing;
} lot = { .mutex = PTHREAD_MUTEX_INITIALIZER, .next_look = NEVER };

bool admission_lot_is_open(void)
{
    return lot.child && adm_child_is_self(lot.child);
}

/* ---- slots --------------------------------------------------------------- */

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

/* ---- wake, and come back --------------------------------------------------- */

/* At a hard stop nobody: the workers have gone, and the listener would wait half a
 * second for one for each connection. They end with the child.
 *
 * The others a few at a time: the listener waits for a worker for each one. A stop
 * ends that wait, and where no worker has run yet their queue is full then: event
 * overwrites a connection in it (docs/dev/decisions/0017). */
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
    parking->is_readable = true;
    lot.readable++;
    admission_stand_in_wake(&parking->stand_in);
}

static void wake_held_back_locked(void)
{
    uint32_t looked = 0;

    while (lot.holds_back && lot.readable < lot.readable_max) {
        lot.next_held_back = (lot.next_held_back + 1) % lot.used;
        if (lot.visits[lot.next_held_back]) {
            wake_locked(lot.visits[lot.next_held_back]->parking);
        }
        lot.holds_back = ++looked < lot.used;
    }
}

/* A worker has come: another one may be woken in its place. */
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

/* ---- whether it is polled ------------------------------------------------- */

/* One look: who is not polled blocks, in a child that needs no room in reserve. */
static bool is_polled_locked(void)
{
    if (admission_mpm_goes_on()) {
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
    return earlier(lot.next_round, lot.next_look);
}

/* @return whether the dispatcher must be told: it sleeps too long. */
static bool schedule_locked(admission_parking_t *parking, adm_usec_t patience)
{
    adm_usec_t now = adm_now();
    adm_usec_t next = next_wake_locked();

    parking->look_at = earlier(now + patience, parking->deadline);
    lot.next_round = earlier(lot.next_round,
                             earlier(now + ROUND_USEC, parking->look_at));
    if (admission_mpm_oversleeps()) {
        lot.next_look = earlier(lot.next_look, now + LOOK_USEC);
    }
    return next_wake_locked() < next;
}

bool admission_lot_enter(admission_visit_t *visit, adm_usec_t patience)
{
    admission_parking_t *parking = visit->parking;
    bool has_slot, has_to_ring = false;

    if (!admission_stand_in_open(&parking->stand_in, parking->c,
                                 parking->ignores_end, lot.descriptors)) {
        return false;
    }
    pthread_mutex_lock(&lot.mutex);
    has_slot = parking->state == ADMISSION_LOOKING
               || (is_polled_locked() && adm_worker_has_room(lot.child)
                   && take_slot_locked(visit));
    if (has_slot) {
        parking->state = ADMISSION_LEAVING;
        parking->is_woken = false;
        has_to_ring = schedule_locked(parking, patience);
        /* Counted before the next one looks whether there is room. */
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

apr_int64_t admission_lot_descriptors(void)
{
    return lot.descriptors;
}

void admission_lot_mind_listener(void)
{
    adm_usec_t next, look_at;

    if (!admission_mpm_oversleeps()) {
        return;
    }
    look_at = adm_now() + LOOK_USEC;
    pthread_mutex_lock(&lot.mutex);
    next = next_wake_locked();
    lot.next_look = earlier(lot.next_look, look_at);
    pthread_mutex_unlock(&lot.mutex);
    if (look_at < next) {
        adm_doorbell_ring(lot.child);
    }
}

void admission_lot_swap_out(admission_parking_t *parking)
{
    pthread_mutex_lock(&lot.mutex);
    if (parking->state == ADMISSION_LEAVING) {
        admission_stand_in_take(&parking->stand_in);
        parking->state = ADMISSION_PARKED;
        wake_locked(parking); /* it was granted already */
    }
    pthread_mutex_unlock(&lot.mutex);
}

void admission_lot_swap_in(admission_parking_t *parking)
{
    pthread_mutex_lock(&lot.mutex);
    restore_socket_locked(parking);
    parking->state = ADMISSION_LOOKING;
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

/* Its ticket was granted, or another one of the zone. */
static void answer_bell(uint32_t slot)
{
    admission_visit_t *visit;
    adm_zone_t zone = { 0 };
    bool is_granted = false;

    pthread_mutex_lock(&lot.mutex);
    visit = slot < lot.size ? lot.visits[slot] : NULL;
    /* The bell may be that of the slot's last ticket. */
    if (visit) {
        zone = visit->zone->handle;
        is_granted = adm_ticket_is_granted(&visit->ticket);
        if (is_granted && !visit->parking->is_woken) {
            visit->parking->is_woken = true;
            wake_locked(visit->parking);
        }
    }
    pthread_mutex_unlock(&lot.mutex);
    if (is_granted) {
        admission_lease_expect_begin(zone, adm_now());
    }
    else if (zone.idx) {
        admission_lease_watch(zone, adm_now());
    }
}

/* @return when this one wants to be visited next. */
static adm_usec_t visit_locked(admission_visit_t *visit, adm_usec_t now,
                               adm_usec_t next)
{
    admission_parking_t *parking = visit->parking;

    admission_lease_watch(visit->zone->handle, now);
    if (parking->is_woken) {
        return next;
    }
    if (now >= parking->look_at || adm_ticket_seems_over(&visit->ticket, now)) {
        parking->is_woken = true;
        wake_locked(parking);
        return next;
    }
    return parking->look_at < next ? parking->look_at : next;
}

/* Deadlines, and grants whose bell was never rung: its ringer was killed. */
static void visit_all(void)
{
    adm_usec_t now = adm_now();
    adm_usec_t next;
    uint32_t slot;

    pthread_mutex_lock(&lot.mutex);
    next = now + (lot.free_count == lot.size ? IDLE_USEC : ROUND_USEC);
    for (slot = 0; slot < lot.used; slot++) {
        if (lot.visits[slot]) {
            next = visit_locked(lot.visits[slot], now, next);
        }
    }
    lot.next_round = next > now + TICK_USEC ? next : now + TICK_USEC;
    lot.next_look = now;
    pthread_mutex_unlock(&lot.mutex);
}

/* They were woken and still wait for a worker. */
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

/* Those who wait on threads of this child mostly get permits and leave their workers by
 * themselves: only where none does for so long must one give its place up.
 * @return how many must. */
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

static void visit_zones(adm_child_t *child, adm_usec_t now)
{
    bool has_room;

    if (admission_lease_next(now + 1) <= now) {
        pthread_mutex_lock(&lot.mutex);
        has_room = lot.readable == 0;
        pthread_mutex_unlock(&lot.mutex);
        has_room = has_room || admission_lease_has_idle_worker();
        adm_child_note_room(child, has_room);
        admission_lease_visit(child, now);
        /* Permits that nobody else could take. */
        adm_worker_lack(child, count_lacking(has_room, now));
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

/* One that had stopped accepting will soon do so again: then often, for a while. */
static void look_at_listener(adm_usec_t now)
{
    bool accepts;

    pthread_mutex_lock(&lot.mutex);
    lot.next_look = NEVER;
    pthread_mutex_unlock(&lot.mutex);
    accepts = admission_mpm_keep_accepting();
    pthread_mutex_lock(&lot.mutex);
    if (!accepts && admission_mpm_oversleeps()) {
        lot.look_until = now + ROUND_USEC;
    }
    if (now < lot.look_until) {
        lot.next_look = earlier(lot.next_look, now + LOOK_USEC);
    }
    pthread_mutex_unlock(&lot.mutex);
}

/* Whoever changes the answer rings the doorbell afterwards. */
static adm_usec_t sleep_until(void *unused)
{
    adm_usec_t next = earlier(guarded(&lot.next_round),
                              guarded(&lot.next_look));

    return atomic_load(&lot.is_closing)
               ? 0
               : admission_alarm_next(admission_lease_next(next));
}

#define BELLS_AT_ONCE 256

static void *APR_THREAD_FUNC dispatch(apr_thread_t *thread, void *data)
{
    adm_child_t *child = data;
    uint32_t slots[BELLS_AT_ONCE];

    while (!atomic_load(&lot.is_closing)) {
        uint32_t i, count = adm_doorbell_wait(child, sleep_until, NULL, slots,
                                              BELLS_AT_ONCE);

        for (i = 0; i < count; i++) {
            answer_bell(slots[i]);
        }
        if (adm_now() >= guarded(&lot.next_round)) {
            adm_round_help(child, adm_now());
            visit_all();
        }
        visit_zones(child, adm_now());
        admission_alarm_ring_due();
        if (adm_now() >= guarded(&lot.next_look)) {
            look_at_listener(adm_now());
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

static void make_room(uint32_t slots, apr_pool_t *pchild)
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
                                uint32_t threads, apr_int64_t descriptors,
                                apr_pool_t *pchild)
{
    sigset_t all, old;
    apr_status_t rv;

    lot.descriptors = descriptors;
    lot.readable_max = (threads + 1) / 2;
    make_room(slots, pchild);
    admission_alarm_open(child, threads);
    /* Signals are for the threads of the MPM. */
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
