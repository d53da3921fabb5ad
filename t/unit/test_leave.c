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

TEST(a_permit_given_back_goes_to_the_first_in_line)
{
    adm_ticket_t inside, waiting[2];

    stage(1, 2);
    ck_assert_int_eq(enter(child, zone, &inside), ADM_ADMITTED);
    enter_many(child, zone, waiting, 2, ADM_WAITING);
    leave(&inside);
    ck_assert(adm_ticket_is_granted(&waiting[0]));
    ck_assert(!adm_ticket_is_granted(&waiting[1]));
    ck_assert_uint_eq(active_in(zone), 1);
    ck_assert_uint_eq(queued_in(zone), 1);
}

TEST(a_permit_given_back_beside_an_empty_line_is_free)
{
    adm_ticket_t ticket;

    stage(1, 2);
    ck_assert_int_eq(enter(child, zone, &ticket), ADM_ADMITTED);
    leave(&ticket);
    ck_assert_uint_eq(active_in(zone), 0);
    ck_assert_uint_eq(ticket.held, 0);
    ck_assert_int_eq(enter(child, zone, &ticket), ADM_ADMITTED);
}

TEST(a_second_release_gives_nothing_back)
{
    adm_ticket_t inside[2];

    stage(2, 2);
    enter_many(child, zone, inside, 2, ADM_ADMITTED);
    leave(&inside[0]);
    leave(&inside[0]);
    ck_assert_uint_eq(active_in(zone), 1);
}

TEST(a_second_release_does_not_end_the_tickets_next_owner)
{
    adm_ticket_t old, young;

    stage(1, 2);
    ck_assert_int_eq(enter(child, zone, &old), ADM_ADMITTED);
    leave(&old);
    ck_assert_int_eq(enter(child, zone, &young), ADM_ADMITTED);
    ck_assert_uint_eq(young.idx, old.idx);
    atomic_store(&old.held, 1); /* even if it thought that it still held */
    leave(&old);
    ck_assert_uint_eq(active_in(zone), 1);
}

TEST(a_ticket_never_entered_can_be_released)
{
    adm_ticket_t ticket = { 0 };

    adm_ticket_release(&ticket, adm_now());
}

TEST(a_waiting_ticket_that_is_released_leaves_the_line)
{
    adm_ticket_t waiting;

    stage(0, 2);
    ck_assert_int_eq(enter(child, zone, &waiting), ADM_WAITING);
    leave(&waiting);
    ck_assert_uint_eq(queued_in(zone), 0);
    ck_assert_uint_eq(stats_of(child, zone).figures.outcomes[ADM_GONE], 1);
}

static void *leave_in_thread(void *ticket)
{
    leave(ticket);
    return NULL;
}

TEST(any_thread_may_give_a_permit_back)
{
    adm_ticket_t inside, waiting;
    pthread_t thread;

    stage(1, 1);
    ck_assert_int_eq(enter(child, zone, &inside), ADM_ADMITTED);
    ck_assert_int_eq(enter(child, zone, &waiting), ADM_WAITING);
    pthread_create(&thread, NULL, leave_in_thread, &inside);
    pthread_join(thread, NULL);
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

/* ---- cancel -------------------------------------------------------------- */

/* Loop test: the first, the middle and the last in line leave. */
TESTS(the_line_closes_up_behind_who_leaves_it, 0, 3)
{
    adm_ticket_t inside, waiting[3];
    int n;

    stage(1, 3);
    ck_assert_int_eq(enter(child, zone, &inside), ADM_ADMITTED);
    enter_many(child, zone, waiting, 3, ADM_WAITING);
    ck_assert_int_eq(cancel(&waiting[_i], ADM_GONE), ADM_GONE);
    ck_assert_uint_eq(queued_in(zone), 2);
    ck_assert_ptr_null(adm_check(segment));
    leave(&inside);
    for (n = 0; n < 3; n++) {
        if (n != _i) {
            ck_assert(adm_ticket_is_granted(&waiting[n]));
            leave(&waiting[n]);
        }
    }
    ck_assert_uint_eq(active_in(zone), 0);
}

TEST(the_only_one_in_line_can_leave_it)
{
    adm_ticket_t waiting;

    stage(0, 1);
    ck_assert_int_eq(enter(child, zone, &waiting), ADM_WAITING);
    ck_assert_int_eq(cancel(&waiting, ADM_TIMEOUT), ADM_TIMEOUT);
    ck_assert_uint_eq(queued_in(zone), 0);
    ck_assert_int_eq(cancel(&waiting, ADM_TIMEOUT), ADM_TIMEOUT);
    leave(&waiting);
    ck_assert_uint_eq(stats_of(child, zone).figures.outcomes[ADM_TIMEOUT], 1);
}

TEST(each_outcome_has_its_own_count)
{
    adm_ticket_t ticket;
    adm_zone_stats_t stats;
    adm_outcome_t outcome;

    stage(0, 1);
    for (outcome = ADM_TIMEOUT; outcome <= ADM_STOPPED; outcome++) {
        ck_assert_int_eq(enter(child, zone, &ticket), ADM_WAITING);
        ck_assert_int_eq(cancel(&ticket, outcome), outcome);
    }
    stats = stats_of(child, zone);
    ck_assert_uint_eq(stats.figures.outcomes[ADM_TIMEOUT], 1);
    ck_assert_uint_eq(stats.figures.outcomes[ADM_GONE], 1);
}

TEST(a_timeout_that_comes_after_the_grant_keeps_the_permit)
{
    adm_ticket_t inside, waiting;

    stage(1, 1);
    ck_assert_int_eq(enter(child, zone, &inside), ADM_ADMITTED);
    ck_assert_int_eq(enter(child, zone, &waiting), ADM_WAITING);
    leave(&inside);
    ck_assert_int_eq(cancel(&waiting, ADM_TIMEOUT), ADM_WAITED);
    ck_assert(adm_ticket_is_granted(&waiting));
    ck_assert_uint_eq(stats_of(child, zone).figures.outcomes[ADM_TIMEOUT], 0);
    leave(&waiting);
    ck_assert_uint_eq(active_in(zone), 0);
}

/* Loop test: the client left, the child stops. */
TESTS(who_leaves_after_the_grant_passes_the_permit_on, 0, 2)
{
    static const adm_outcome_t outcomes[] = { ADM_GONE, ADM_STOPPED };
    adm_ticket_t inside, waiting[2];

    stage(1, 2);
    ck_assert_int_eq(enter(child, zone, &inside), ADM_ADMITTED);
    enter_many(child, zone, waiting, 2, ADM_WAITING);
    leave(&inside);
    ck_assert_int_eq(cancel(&waiting[0], outcomes[_i]), outcomes[_i]);
    ck_assert(adm_ticket_is_granted(&waiting[1]));
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

    NEED(child != NULL);
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
    ck_assert_uint_eq(stats_of(child, race.zone).figures.outcomes[ADM_TIMEOUT],
                      RACES - granted);
}
