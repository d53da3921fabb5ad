/* mod_admission_park.c - wait for a permit without a worker (event MPM).
 *
 * The MPM can wait for a connection's socket without a worker
 * (CONN_STATE_ASYNC_WAITIO) and then calls process_connection again. While a
 * request is parked, its socket's descriptor number stands for an epoll set
 * that holds the real socket: quiet while the client only waits, readable when
 * it hangs up, and made readable when the permit is granted, by asking whether
 * the client can be written to, which it can. Two descriptors a waiter.
 *
 *   handler hook        in line: prepare the descriptors, return SUSPENDED
 *   process_connection  SUSPENDED -> ASYNC_WAITIO
 *   suspend_connection  the number becomes the epoll set      (worker leaves)
 *   dispatcher          granted, too late, or a look is due: make it readable
 *   resume_connection   the number becomes the socket again   (worker enters)
 *   process_connection  run the handler, or say why not, or park again
 *
 * docs/architecture.md has the picture, docs/decisions the ways that fail.
 */
#include <httpd.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <apr_hooks.h>
#include <apr_portable.h>
#include <apr_strings.h>
#include <apr_thread_proc.h>
#include <ap_mpm.h>
#include <http_connection.h>
#include <http_core.h>
#include <http_protocol.h>
#include <http_request.h>

#include "mod_admission_private.h"

#if defined(AP_MPMQ_CAN_WAITIO) && defined(__linux__)
#define HAS_PARKING 1
#include <sys/epoll.h>
#else
#define HAS_PARKING 0
#endif

APLOG_USE_MODULE(admission);

static int server_parks; /* set in the parent, for all children */

int admission_parks(void)
{
    return server_parks;
}

#if HAS_PARKING

/* The dispatcher visits all parked requests this often, whatever happens. */
#define ROUND_USEC ADM_USEC_PER_SEC
/* Not more often than this for the sake of deadlines. */
#define TICK_USEC (50 * ADM_USEC_PER_MSEC)
/* And this often while nobody is parked. */
#define IDLE_USEC (3600 * ADM_USEC_PER_SEC)

/* Descriptors a child needs besides those of its connections. */
#define SPARE_DESCRIPTORS 64

typedef enum parked_state_t {
    NOT_PARKED,
    LEAVING_WORKER, /* SUSPENDED was returned, the socket is still itself */
    PARKED          /* the number stands for the epoll set */
} parked_state_t;

typedef struct admission_parking_t {
    conn_rec *c;
    request_rec *r;
    const char *handler; /* httpd resets r->handler when the handler returns */
    adm_usec_t began;
    adm_usec_t deadline; /* of the wait in line */
    uint32_t slot;

    /* Guarded by the lot's mutex. */
    parked_state_t state;
    adm_usec_t look_at;  /* wake the connection then in any case */
    int is_woken;
    int number;          /* the descriptor that the MPM knows */
    int socket;          /* the real socket meanwhile */
    int epoll;           /* until it takes the number */
} admission_parking_t;

/* All parked requests of this child. The mutex is held for a few system calls
 * at most, and never together with another lock. */
static struct {
    pthread_mutex_t mutex;
    admission_visit_t **visits; /* by slot */
    uint32_t *free_slots;
    uint32_t free_count;
    uint32_t size; /* slots */
    uint32_t used; /* slots that were ever used are below */
    adm_usec_t next_round;
    apr_thread_t *dispatcher;
    atomic_bool is_closing;
} lot = { .mutex = PTHREAD_MUTEX_INITIALIZER };

/* ---- slots -------------------------------------------------------------------------- */

static int take_slot_locked(admission_visit_t *visit)
{
    uint32_t slot;

    if (lot.free_count == 0) {
        return 0;
    }
    slot = lot.free_slots[--lot.free_count];
    lot.visits[slot] = visit;
    visit->parking->slot = slot;
    if (slot >= lot.used) {
        lot.used = slot + 1;
    }
    return 1;
}

static void free_slot_locked(admission_parking_t *parking)
{
    lot.visits[parking->slot] = NULL;
    lot.free_slots[lot.free_count++] = parking->slot;
}

/* ---- descriptors ---------------------------------------------------------------------- */

static int set_watch(int epoll, int operation, int socket, uint32_t events)
{
    struct epoll_event event = { .events = events };

    return epoll_ctl(epoll, operation, socket, &event) == 0;
}

static void close_descriptor(int *descriptor)
{
    if (*descriptor >= 0) {
        close(*descriptor);
        *descriptor = -1;
    }
}

/* The wake-up needs a client that can be written to. Nothing is written while
 * it is parked, so that what holds now will hold then. */
static int is_writable(int socket)
{
    struct pollfd client = { .fd = socket, .events = POLLOUT };

    return poll(&client, 1, 0) == 1 && (client.revents & POLLOUT);
}

/* All that can fail is done here, before the worker leaves. */
static int open_descriptors(admission_parking_t *parking, conn_rec *c)
{
    apr_os_sock_t number;

    if (apr_os_sock_get(&number, ap_get_conn_socket(c)) != APR_SUCCESS
        || number < 0 || !is_writable(number)) {
        return 0;
    }
    parking->number = number;
    parking->socket = fcntl(number, F_DUPFD_CLOEXEC, 0);
    parking->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (parking->socket >= 0 && parking->epoll >= 0
        && set_watch(parking->epoll, EPOLL_CTL_ADD, parking->socket,
                     EPOLLRDHUP)) {
        return 1;
    }
    close_descriptor(&parking->socket);
    close_descriptor(&parking->epoll);
    return 0;
}

/* Let one descriptor take the other's number. Cannot fail: both are open. */
static void take_number(int *descriptor, int number)
{
    while (dup3(*descriptor, number, O_CLOEXEC) < 0 && errno == EINTR) {
    }
    close_descriptor(descriptor);
}

/* ---- park ------------------------------------------------------------------------------- */

int admission_may_park(request_rec *r)
{
    conn_rec *c = r->connection;

    /* Others run below somebody who cannot be suspended, or on a connection
     * that the MPM does not poll. */
    return server_parks && lot.dispatcher && c->cs && !c->master
           && !c->clogging_input_filters && !r->main && !r->prev;
}

/* When the MPM would close a connection that waits so long. */
static adm_usec_t mpm_patience(const conn_rec *c)
{
    apr_interval_time_t timeout = c->base_server->timeout;

    return timeout > 2 * ROUND_USEC ? timeout - ROUND_USEC : timeout / 2;
}

/* @return whether the dispatcher must be told: it sleeps too long. */
static int schedule_locked(admission_parking_t *parking, const conn_rec *c)
{
    adm_usec_t now = adm_now();
    adm_usec_t first = now + ROUND_USEC;

    parking->look_at = now + mpm_patience(c);
    if (parking->deadline < parking->look_at) {
        parking->look_at = parking->deadline;
    }
    if (parking->look_at < first) {
        first = parking->look_at;
    }
    if (first >= lot.next_round) {
        return 0;
    }
    lot.next_round = first;
    return 1;
}

/* Descriptors are open; enter the lot. */
static int enter_lot(admission_visit_t *visit, const conn_rec *c)
{
    admission_parking_t *parking = visit->parking;
    int has_slot, has_to_ring = 0;

    pthread_mutex_lock(&lot.mutex);
    has_slot = take_slot_locked(visit);
    if (has_slot) {
        parking->state = LEAVING_WORKER;
        parking->is_woken = 0;
        has_to_ring = schedule_locked(parking, c);
    }
    pthread_mutex_unlock(&lot.mutex);
    if (has_to_ring) {
        adm_doorbell_ring(visit->ticket.child);
    }
    return has_slot;
}

static int park(admission_visit_t *visit, conn_rec *c)
{
    admission_parking_t *parking = visit->parking;

    if (!open_descriptors(parking, c)) {
        return 0;
    }
    if (!enter_lot(visit, c)) {
        close_descriptor(&parking->socket);
        close_descriptor(&parking->epoll);
        return 0;
    }
    adm_ticket_park(&visit->ticket, parking->slot);
    return 1;
}

int admission_park(request_rec *r, admission_visit_t *visit,
                   adm_usec_t deadline)
{
    conn_rec *c = r->connection;
    admission_parking_t *parking = visit->parking;

    if (!parking) {
        parking = apr_pcalloc(c->pool, sizeof(*parking));
        visit->parking = parking;
    }
    *parking = (admission_parking_t){ .c = c,
                                      .r = r,
                                      .handler = r->handler,
                                      .began = adm_now(),
                                      .deadline = deadline,
                                      .socket = -1,
                                      .epoll = -1 };
    return park(visit, c) ? SUSPENDED : DECLINED;
}

/* ---- the MPM's suspend and resume --------------------------------------------------------- */

static admission_visit_t *parked_visit_of(const conn_rec *c)
{
    admission_visit_t *visit = server_parks ? admission_visits_of(c) : NULL;

    while (visit && !(visit->parking && visit->parking->state != NOT_PARKED)) {
        visit = visit->next;
    }
    return visit;
}

static void wake_locked(admission_parking_t *parking)
{
    if (parking->state == PARKED && parking->is_woken) {
        set_watch(parking->number, EPOLL_CTL_MOD, parking->socket,
                  EPOLLRDHUP | EPOLLOUT);
    }
}

void admission_suspend_connection(conn_rec *c, request_rec *r)
{
    admission_visit_t *visit = parked_visit_of(c);

    (void)r;
    if (!visit) {
        return;
    }
    pthread_mutex_lock(&lot.mutex);
    if (visit->parking->state == LEAVING_WORKER) {
        take_number(&visit->parking->epoll, visit->parking->number);
        visit->parking->state = PARKED;
        wake_locked(visit->parking); /* it was granted already */
    }
    pthread_mutex_unlock(&lot.mutex);
}

/* The socket gets its number back, unless the MPM has closed that. */
static void restore_socket_locked(admission_parking_t *parking, conn_rec *c)
{
    apr_os_sock_t number;

    if (parking->state == PARKED
        && apr_os_sock_get(&number, ap_get_conn_socket(c)) == APR_SUCCESS
        && number == parking->number) {
        take_number(&parking->socket, number);
    }
    close_descriptor(&parking->socket);
    close_descriptor(&parking->epoll);
}

static void leave_lot(admission_visit_t *visit, conn_rec *c)
{
    admission_parking_t *parking = visit->parking;

    pthread_mutex_lock(&lot.mutex);
    if (parking->state != NOT_PARKED) {
        restore_socket_locked(parking, c);
        free_slot_locked(parking);
        parking->state = NOT_PARKED;
    }
    pthread_mutex_unlock(&lot.mutex);
}

void admission_resume_connection(conn_rec *c, request_rec *r)
{
    admission_visit_t *visit = parked_visit_of(c);

    (void)r;
    if (visit) {
        leave_lot(visit, c);
        adm_ticket_unpark(&visit->ticket);
        visit->parking->is_woken = 1; /* for process_connection */
    }
}

void admission_park_forget(admission_visit_t *visit)
{
    if (visit->parking && visit->parking->state != NOT_PARKED) {
        leave_lot(visit, visit->parking->c);
    }
}

/* ---- go on -------------------------------------------------------------------------------- */

/* A visit that resume_connection has just taken out of the lot. */
static admission_visit_t *resumed_visit_of(const conn_rec *c)
{
    admission_visit_t *visit = server_parks ? admission_visits_of(c) : NULL;

    while (visit
           && !(visit->parking && visit->parking->state == NOT_PARKED
                && visit->parking->is_woken)) {
        visit = visit->next;
    }
    return visit;
}

static int run_connection_hooks_behind(conn_rec *c)
{
    apr_array_header_t *hooks = ap_hook_get_process_connection();
    ap_LINK_process_connection_t *hook =
        (ap_LINK_process_connection_t *)hooks->elts;
    int i, rv = DECLINED;

    for (i = 0; i < hooks->nelts
                && hook[i].pFunc != admission_process_connection;
         i++) {
    }
    for (i++; i < hooks->nelts && rv == DECLINED; i++) {
        rv = hook[i].pFunc(c);
    }
    return rv;
}

static int wait_for_wake_up(conn_rec *c)
{
    c->cs->state = CONN_STATE_ASYNC_WAITIO;
    c->cs->sense = CONN_SENSE_WANT_READ;
    return OK;
}

/* What ap_invoke_handler() does behind a handler; its filters are in place. */
static int checked_result(request_rec *r, int rv)
{
    if (rv == DECLINED) {
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    if (rv != OK && rv != DONE && rv != AP_FILTER_ERROR
        && !ap_is_HTTP_VALID_RESPONSE(rv)) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r, ADMLOGNO(0301)
                      "Handler for %s returned invalid result code %d",
                      r->handler, rv);
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    return rv;
}

/* What ap_process_async_request() does around and behind a handler. */
static void finish_request(request_rec *r, const char *handler,
                           admission_outcome_t outcome, adm_usec_t began)
{
    conn_rec *c = r->connection;
    const char *old_handler = r->handler;
    int rv;

    c->cs->state = CONN_STATE_HANDLER;
    ap_update_child_status(c->sbh, SERVER_BUSY_WRITE, r);
    apr_thread_mutex_lock(r->invoke_mtx);
    r->handler = handler;
    rv = checked_result(r, admission_after_wait(r, outcome, began));
    r->handler = old_handler;
    apr_thread_mutex_unlock(r->invoke_mtx);
    if (rv != OK && rv != DONE) {
        r->status = HTTP_OK; /* of the first error */
    }
    ap_die(rv, r);
    ap_process_request_after_handler(r);
}

/* The client is asked last: nothing is started for nobody. */
static int outcome_of(admission_visit_t *visit, conn_rec *c,
                      admission_outcome_t *outcome)
{
    adm_ticket_t *ticket = &visit->ticket;
    adm_usec_t now = adm_now();

    *outcome = ADMISSION_GRANTED;
    if (admission_client_has_gone(c)) {
        adm_ticket_cancel(ticket, ADM_REASON_GONE, now);
        *outcome = ADMISSION_GONE;
    }
    else if (adm_ticket_is_granted(ticket)) {
        return 1;
    }
    else if (adm_child_is_stopping(ticket->child)) {
        adm_ticket_cancel(ticket, ADM_REASON_STOPPING, now);
        *outcome = ADMISSION_STOPPING;
    }
    else if (now >= visit->parking->deadline) {
        if (adm_ticket_cancel(ticket, ADM_REASON_TIMEOUT, now) == APR_SUCCESS) {
            *outcome = ADMISSION_TIMEOUT;
        }
    }
    else {
        return 0;
    }
    return 1;
}

static int go_on(admission_visit_t *visit, conn_rec *c)
{
    admission_parking_t *parking = visit->parking;
    admission_outcome_t outcome;

    parking->is_woken = 0;
    if (!outcome_of(visit, c, &outcome)) {
        if (park(visit, c)) {
            return wait_for_wake_up(c);
        }
        /* No descriptor left to park with. It has a worker just now. */
        adm_ticket_block(&visit->ticket, adm_now());
        outcome = admission_block(parking->r, &visit->ticket,
                                  parking->deadline);
    }
    finish_request(parking->r, parking->handler, outcome, parking->began);
    return OK;
}

int admission_process_connection(conn_rec *c)
{
    admission_visit_t *visit;
    int rv;

    if (!server_parks || !c->cs || c->master) {
        return DECLINED;
    }
    visit = resumed_visit_of(c);
    if (visit) {
        return go_on(visit, c);
    }
    rv = run_connection_hooks_behind(c);
    if (c->cs->state == CONN_STATE_SUSPENDED && parked_visit_of(c)) {
        rv = wait_for_wake_up(c);
    }
    return rv;
}

/* ---- the dispatcher -------------------------------------------------------------------------- */

static void wake_slot(uint32_t slot)
{
    admission_visit_t *visit;

    pthread_mutex_lock(&lot.mutex);
    visit = slot < lot.size ? lot.visits[slot] : NULL;
    /* The bell may be that of the slot's last ticket. */
    if (visit && !visit->parking->is_woken
        && adm_ticket_is_granted(&visit->ticket)) {
        visit->parking->is_woken = 1;
        wake_locked(visit->parking);
    }
    pthread_mutex_unlock(&lot.mutex);
}

/* @return when this one wants to be visited next. */
static adm_usec_t visit_locked(admission_visit_t *visit, adm_usec_t now,
                               adm_usec_t next)
{
    admission_parking_t *parking = visit->parking;

    if (parking->is_woken) {
        return next;
    }
    if (now >= parking->look_at || adm_ticket_is_granted(&visit->ticket)
        || adm_child_is_stopping(visit->ticket.child)) {
        parking->is_woken = 1;
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
    pthread_mutex_unlock(&lot.mutex);
}

static adm_usec_t next_round(void)
{
    adm_usec_t next;

    pthread_mutex_lock(&lot.mutex);
    next = lot.next_round;
    pthread_mutex_unlock(&lot.mutex);
    return next;
}

#define BELLS_AT_ONCE 256

static void *APR_THREAD_FUNC dispatch(apr_thread_t *thread, void *data)
{
    adm_child_t *child = data;
    uint32_t slots[BELLS_AT_ONCE];

    (void)thread;
    while (!atomic_load(&lot.is_closing)) {
        uint32_t i, count = adm_doorbell_wait(child, next_round(), slots,
                                              BELLS_AT_ONCE);

        for (i = 0; i < count; i++) {
            wake_slot(slots[i]);
        }
        if (adm_now() >= next_round()) {
            adm_audit(child, adm_now(), false);
            visit_all();
        }
    }
    return NULL;
}

static apr_status_t stop_dispatcher(void *child)
{
    apr_status_t rv;

    atomic_store(&lot.is_closing, true);
    adm_doorbell_ring(child);
    apr_thread_join(&rv, lot.dispatcher);
    return APR_SUCCESS;
}

/* ---- how many ------------------------------------------------------------------------------------ */

/* The MPM accepts no more than ThreadsPerChild + idle threads *
 * AsyncRequestWorkerFactor connections a child. Half of the latter are for
 * those who wait, the rest for those who do not. */
static rlim_t threads_of_child(void)
{
    int threads = 0;

    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    return threads > 0 ? (rlim_t)threads : 0;
}

static rlim_t limit_by_factor(void)
{
    double factor = admission_number_of("AsyncRequestWorkerFactor", 2);

    return factor > 0 ? (rlim_t)((double)threads_of_child() * factor / 2) : 0;
}

/* Two descriptors each, one for every other connection, and what a program or
 * a backend needs for every thread. */
static rlim_t limit_by_descriptors(void)
{
    struct rlimit limit;
    rlim_t others = SPARE_DESCRIPTORS + limit_by_factor()
                    + 4 * threads_of_child();

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0
        || limit.rlim_cur == RLIM_INFINITY) {
        return ADM_PARK_SLOTS;
    }
    return limit.rlim_cur > others ? (limit.rlim_cur - others) / 2 : 0;
}

static uint32_t slots_of_child(void)
{
    rlim_t slots = limit_by_factor();
    rlim_t descriptors = limit_by_descriptors();

    if (slots > descriptors) {
        slots = descriptors;
    }
    return slots < ADM_PARK_SLOTS ? (uint32_t)slots : ADM_PARK_SLOTS;
}

static int mpm_can_park(void)
{
    int can = 0;

    return ap_mpm_query(AP_MPMQ_CAN_WAITIO, &can) == APR_SUCCESS && can;
}

static void warn_of_long_lines(server_rec *s)
{
    const apr_array_header_t *zones = admission_zones();
    int daemons = 1, i;
    apr_int64_t room, waiters = 0;

    ap_mpm_query(AP_MPMQ_MAX_DAEMONS, &daemons);
    room = (apr_int64_t)daemons * slots_of_child();
    for (i = 0; i < zones->nelts; i++) {
        waiters += APR_ARRAY_IDX(zones, i, admission_zone_t *)->queue_length;
    }
    if (waiters > room) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0302)
                     "the lines of all zones have %" APR_INT64_T_FMT
                     " places, but the server parks %" APR_INT64_T_FMT
                     " requests at most (%u a child), others wait with a "
                     "worker; raise AsyncRequestWorkerFactor, and the limit of "
                     "open files with it, or lower AdmissionQueue",
                     waiters, room, slots_of_child());
    }
}

void admission_park_post_config(server_rec *s)
{
    server_parks = admission_parking_is_on(s) && mpm_can_park()
                   && slots_of_child() > 0;
    if (admission_zones()->nelts == 0) {
        return;
    }
    ap_log_error(APLOG_MARK, APLOG_INFO, 0, s, ADMLOGNO(0303)
                 "requests that wait %s",
                 server_parks ? "are parked, they hold no worker"
                              : "hold a worker");
    if (server_parks) {
        warn_of_long_lines(s);
    }
}

static int make_lot(apr_pool_t *pchild)
{
    uint32_t slot;

    lot.size = slots_of_child();
    lot.visits = apr_pcalloc(pchild, lot.size * sizeof(*lot.visits));
    lot.free_slots = apr_pcalloc(pchild, lot.size * sizeof(*lot.free_slots));
    for (slot = lot.size; slot > 0; slot--) {
        lot.free_slots[lot.free_count++] = slot - 1; /* lowest on top */
    }
    return lot.size > 0;
}

void admission_park_child_init(apr_pool_t *pchild, server_rec *s)
{
    adm_child_t *child = admission_child();
    sigset_t all, old;
    apr_status_t rv;

    if (!server_parks || !child || !make_lot(pchild)) {
        return;
    }
    /* Signals are for the threads of the MPM. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rv = apr_thread_create(&lot.dispatcher, NULL, dispatch, child, pchild);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rv != APR_SUCCESS) {
        lot.dispatcher = NULL;
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, s, ADMLOGNO(0304)
                     "no thread to look after parked requests, those of this "
                     "child hold a worker while they wait");
        return;
    }
    apr_pool_pre_cleanup_register(pchild, child, stop_dispatcher);
}

#else /* !HAS_PARKING: everybody blocks */

int admission_may_park(request_rec *r)
{
    (void)r;
    return 0;
}

int admission_park(request_rec *r, admission_visit_t *visit,
                   adm_usec_t deadline)
{
    (void)r;
    (void)visit;
    (void)deadline;
    return DECLINED;
}

void admission_park_forget(admission_visit_t *visit)
{
    (void)visit;
}

int admission_process_connection(conn_rec *c)
{
    (void)c;
    return DECLINED;
}

void admission_suspend_connection(conn_rec *c, request_rec *r)
{
    (void)c;
    (void)r;
}

void admission_resume_connection(conn_rec *c, request_rec *r)
{
    (void)c;
    (void)r;
}

void admission_park_post_config(server_rec *s)
{
    (void)s;
}

void admission_park_child_init(apr_pool_t *pchild, server_rec *s)
{
    (void)pchild;
    (void)s;
}

#endif
