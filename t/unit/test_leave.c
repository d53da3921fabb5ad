/* test_leave.c - giving a permit back, leaving the line. */
#include <pthread.h>
#include <sched.h>

#include "test_support.h"

WITH_FLOWS_TOO;

static adm_outcome_t cancel(adm_ticket_t *ticket, adm_outcome_t outcome)
{
    return adm_ticket_cancel(ticket, outcome, adm_now());
}

/* ---- release ------------------------------------------------------------- */

TEST(a_ticket_never_entered_can_be_released)
{
    adm_ticket_t ticket = { 0 };

    adm_ticket_release(&ticket, adm_now());
}

static void *leave_in_thread(void *ticket)
{
    leave(ticket);
    return NULL;
}

TEST(any_thread_may_give_a_permit_back)
{
    adm_ticket_t inside, waiting;

    stage(1, 1);
    ck_assert_int_eq(enter(child, zone, &inside), ADM_ADMITTED);
    ck_assert_int_eq(enter(child, zone, &waiting), ADM_WAITING);
    in_thread(leave_in_thread, &inside);
    ck_assert(adm_ticket_is_granted(&waiting));
}

TEST(of_many_threads_that_give_it_back_the_first_one_counts)
{
    enum { THREADS = 8, PERMITS = 200 };
    static adm_ticket_t inside[PERMITS];
    pthread_t threads[THREADS];
    unsigned round, n;

    stage(PERMITS, 1);
    enter_many(child, zone, inside, PERMITS, ADM_ADMITTED);
    for (round = 0; round < 20; round++) {
        for (n = 0; n < THREADS; n++) {
            pthread_create(&threads[n], NULL, leave_in_thread, &inside[round]);
        }
        for (n = 0; n < THREADS; n++) {
            pthread_join(threads[n], NULL);
        }
        ck_assert_uint_eq(active_in(zone), PERMITS - 1 - round);
    }
}

static int leave_in_fork(void *tickets)
{
    adm_ticket_t *both = tickets;

    leave(&both[0]);
    cancel(&both[1], ADM_GONE);
    NEED(!adm_child_is_self(both[0].child));
    return 0;
}

TEST(a_forked_process_gives_nothing_back)
{
    adm_ticket_t tickets[2];

    stage(1, 1);
    ck_assert_int_eq(enter(child, zone, &tickets[0]), ADM_ADMITTED);
    ck_assert_int_eq(enter(child, zone, &tickets[1]), ADM_WAITING);
    ck_assert_int_eq(play(leave_in_fork, tickets), 0);
    ck_assert_uint_eq(active_in(zone), 1);
    ck_assert_uint_eq(queued_in(zone), 1);
    leave(&tickets[0]);
    ck_assert(adm_ticket_is_granted(&tickets[1]));
}

/* ---- both at once -------------------------------------------------------- */

/* Two processes pass one permit to and fro. One waits for it, and cancels
 * while the other one gives it back: the two meet at every distance. */
enum { RACES = 3000 };

typedef struct race_t {
    adm_zone_t zone;
    unsigned max_spin;
} race_t;

static void spin(unsigned rounds)
{
    volatile unsigned n = rounds;

    while (n) {
        n = n - 1;
    }
}

static int give_permit_back(void *context)
{
    const race_t *race = context;
    adm_child_t *child = join();
    unsigned n;

    for (n = 1; n <= RACES; n++) {
        adm_ticket_t ticket;

        NEED_SOON(atomic_load(&shared[1]) == n - 1);
        NEED(enter(child, race->zone, &ticket) == ADM_ADMITTED);
        atomic_store(&shared[0], n);
        while (atomic_load(&shared[2]) != n) {
            sched_yield(); /* a nap would be too long for the race */
        }
        spin(n * 7 % race->max_spin);
        leave(&ticket);
    }
    return 0;
}

TEST(a_cancel_that_meets_a_grant_ends_in_one_of_both)
{
    race_t race = { zone_with(1, 1), 4000 };
    adm_child_t *child = join();
    pid_t other = start(give_permit_back, &race);
    unsigned n, granted = 0;

    for (n = 1; n <= RACES; n++) {
        adm_ticket_t ticket;
        adm_outcome_t outcome;

        WAIT_FOR(atomic_load(&shared[0]) == n);
        ck_assert_int_eq(enter(child, race.zone, &ticket), ADM_WAITING);
        atomic_store(&shared[2], n);
        spin(n * 13 % race.max_spin);
        outcome = cancel(&ticket, ADM_TIMEOUT);
        if (outcome == ADM_WAITED) {
            ck_assert(adm_ticket_is_granted(&ticket));
            granted++;
            leave(&ticket);
        }
        else {
            ck_assert_int_eq(outcome, ADM_TIMEOUT);
        }
        WAIT_FOR(active_in(race.zone) == 0);
        atomic_store(&shared[1], n);
    }
    ck_assert_int_eq(end_of(other), 0);
    printf("# %u of %d cancels came after the grant\n", granted, RACES);
    ck_assert_uint_eq(stats_of(child, race.zone).figures.outcomes[ADM_TIMEOUT], RACES - granted);
}
