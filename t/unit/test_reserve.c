/* test_reserve.c - zones together occupy no more workers than the cap. */

#include <signal.h>

#include "core/adm_fault.h"
#include "core/adm_worker.h"
#include "test_support.h"
#include "test_workers.h"

TEST(the_cap_is_reached_and_not_exceeded)
{
    adm_ticket_t tickets[3];

    make_zone(10, 2);
    ck_assert_int_eq(ask(RUNS, &tickets[0]), ADM_ADMITTED);
    ck_assert_int_eq(ask(BLOCKS, &tickets[1]), ADM_ADMITTED);
    ck_assert_int_eq(ask(RUNS, &tickets[2]), ADM_RESERVE);
    ck_assert_uint_eq(active_in(zone), 2);
    ck_assert_uint_eq(stats_of(child, zone).figures.outcomes[ADM_RESERVE], 1);
    assert_workers(2);
}

TEST(a_worker_is_released_with_the_permit)
{
    adm_ticket_t ticket;

    make_zone(10, 1);
    ck_assert_int_eq(ask(RUNS, &ticket), ADM_ADMITTED);
    leave(&ticket);
    assert_workers(0);
    ck_assert_int_eq(ask(RUNS, &ticket), ADM_ADMITTED);
}

TEST(a_rejected_request_takes_no_worker)
{
    adm_ticket_t ticket, other;

    make_zone(1, 5);
    ck_assert_int_eq(ask(RUNS, &ticket), ADM_ADMITTED);
    ck_assert_int_eq(ask(RUNS, &other), ADM_FULL);
    assert_workers(1);
}

TEST(a_parked_request_takes_no_worker)
{
    adm_ticket_t ticket, other;

    make_zone(0, 0);
    ck_assert_int_eq(ask(PARKS, &ticket), ADM_WAITING);
    assert_workers(0);
    ck_assert_int_eq(ask(BLOCKS, &other), ADM_RESERVE);
    ck_assert_uint_eq(queued_in(zone), 1);
}

TEST(a_blocked_request_releases_its_worker_when_it_leaves)
{
    adm_ticket_t ticket;

    make_zone(0, 1);
    ck_assert_int_eq(ask(BLOCKS, &ticket), ADM_WAITING);
    assert_workers(1);
    adm_ticket_cancel(&ticket, ADM_TIMEOUT, adm_now());
    assert_workers(0);
}

TEST(a_blocked_request_keeps_its_worker_for_the_run)
{
    adm_ticket_t inside, waiting;

    make_zone(1, 2);
    ck_assert_int_eq(ask(RUNS, &inside), ADM_ADMITTED);
    ck_assert_int_eq(ask(BLOCKS, &waiting), ADM_WAITING);
    leave(&inside);
    ck_assert_int_eq(wait_until(&waiting, 0), ADM_WAITED);
    assert_workers(1);
    leave(&waiting);
    assert_workers(0);
}

TEST(a_parked_request_takes_a_worker_to_run)
{
    adm_ticket_t inside, waiting;

    make_zone(1, 1);
    ck_assert_int_eq(ask(RUNS, &inside), ADM_ADMITTED);
    ck_assert_int_eq(ask(PARKS, &waiting), ADM_WAITING);
    adm_ticket_park(&waiting, 3);
    leave(&inside);
    assert_workers(0);
    adm_ticket_unpark(&waiting);
    assert_workers(1);
    leave(&waiting);
    assert_workers(0);
}

TEST(a_request_that_cannot_park_blocks_a_worker)
{
    adm_ticket_t ticket;

    make_zone(0, 1);
    ck_assert_int_eq(ask(PARKS, &ticket), ADM_WAITING);
    ck_assert_int_eq(adm_ticket_block(&ticket, adm_now()), ADM_WAITING);
    assert_workers(1);
    ck_assert_uint_eq(blocked(), 1);
    adm_ticket_cancel(&ticket, ADM_GONE, adm_now());
    assert_workers(0);
    ck_assert_uint_eq(blocked(), 0);
}

TEST(a_request_that_can_neither_park_nor_block_is_rejected)
{
    adm_ticket_t ticket;

    make_zone(0, 0);
    ck_assert_int_eq(ask(PARKS, &ticket), ADM_WAITING);
    ck_assert_int_eq(adm_ticket_block(&ticket, adm_now()), ADM_PARKING);
    ck_assert_uint_eq(ticket.held, 0);
    ck_assert_uint_eq(queued_in(zone), 0);
    ck_assert_uint_eq(blocked(), 0);
    ck_assert_uint_eq(stats_of(child, zone).figures.outcomes[ADM_PARKING], 1);
    ck_assert_uint_eq(stats_of(child, zone).figures.outcomes[ADM_RESERVE], 0);
    assert_workers(0);
}

TEST(a_dry_run_is_let_in_beyond_the_cap_and_counted)
{
    const adm_entry_t dry = { .worker = ADM_WORKER_ONE, .dry_run = true };
    adm_ticket_t ticket;

    make_zone(1, 0);
    ck_assert_int_eq(ask(dry, &ticket), ADM_ADMITTED);
    assert_workers(1);
    leave(&ticket);
    assert_workers(0);
}

TEST(a_request_that_needs_no_worker_ignores_the_cap)
{
    adm_ticket_t ticket;

    make_zone(1, 0);
    ck_assert_int_eq(ask(HURRIES, &ticket), ADM_ADMITTED);
    assert_workers(0);
}

TEST(a_caller_that_has_no_worker_left_is_believed)
{
    const adm_entry_t denied = { .worker = ADM_WORKER_DENIED };
    adm_ticket_t ticket;

    make_zone(1, 10);
    ck_assert_int_eq(ask(denied, &ticket), ADM_RESERVE);
    assert_workers(0);
}

TEST(a_retired_zone_gives_the_worker_back)
{
    adm_ticket_t ticket;

    make_zone(1, 10);
    zone.incarnation++;
    ck_assert_int_eq(ask(RUNS, &ticket), ADM_UNLIMITED);
    ck_assert_int_eq(ticket.fault, ADM_ZONE_RETIRED);
    assert_workers(0);
}

/* ---- kills --------------------------------------------------------------- */

static int take_and_stay(void *unused)
{
    adm_ticket_t tickets[3];

    child = join();
    NEED(ask(RUNS, &tickets[0]) == ADM_ADMITTED);
    NEED(adm_worker_occupy(child) == ADM_WORKER_NONE);
    NEED(ask(RUNS, &tickets[2]) == ADM_RESERVE);
    atomic_store(shared, 1);
    return stay();
}

/* Loop test: the parent noticed the death, or did not. */
TESTS(the_workers_of_a_killed_child_are_free_again, 0, 2)
{
    adm_ticket_t tickets[2], one_more;
    pid_t victim;

    make_zone(10, 2);
    victim = start(take_and_stay, NULL);
    WAIT_FOR(atomic_load(shared) == 1);
    assert_workers(2);
    ck_assert_int_eq(ask(RUNS, &one_more), ADM_RESERVE);
    (_i ? kill_noticed : kill_unnoticed)(victim);
    adm_round(child, adm_now(), true);
    assert_workers(0);
    ck_assert_int_eq(ask(RUNS, &tickets[0]), ADM_ADMITTED);
    ck_assert_int_eq(ask(RUNS, &tickets[1]), ADM_ADMITTED);
    ck_assert_int_eq(ask(RUNS, &one_more), ADM_RESERVE);
}

/* What a kill between the two counters leaves. */
TEST(a_common_count_that_is_too_high_costs_no_worker)
{
    adm_ticket_t tickets[2], one_more;

    make_zone(10, 2);
    atomic_store(&segment->header->workers_held, 5);
    ck_assert_int_eq(ask(RUNS, &tickets[0]), ADM_ADMITTED);
    ck_assert_int_eq(ask(RUNS, &tickets[1]), ADM_ADMITTED);
    ck_assert_int_eq(ask(RUNS, &one_more), ADM_RESERVE);
    ck_assert_uint_eq(workers(), 2);
}

/* ---- many at once: never more than the cap ------------------------------- */

enum { RUNNERS = 2, RUNS_EACH = 4000000, CAP = 1 };

static int take_and_return(void *unused)
{
    unsigned n;

    child = join();
    atomic_fetch_add(&shared[1], 1);
    while (atomic_load(&shared[1]) < RUNNERS) {
    }
    for (n = 0; n < RUNS_EACH; n++) {
        if (adm_worker_take(child, false)) {
            NEED(atomic_fetch_add(shared, 1) + 1 <= CAP);
            atomic_fetch_sub(shared, 1);
            adm_worker_return(child);
        }
    }
    return 0;
}

TEST(processes_that_take_workers_concurrently_keep_to_the_cap)
{
    pid_t runners[RUNNERS];
    unsigned n;
    int failed = 0;

    make_zone(1, CAP);
    for (n = 0; n < RUNNERS; n++) {
        runners[n] = start(take_and_return, NULL);
    }
    for (n = 0; n < RUNNERS; n++) {
        failed |= end_of(runners[n]);
    }
    ck_assert_int_eq(failed, 0);
    adm_round(child, adm_now(), true);
    assert_workers(0);
}

static int hand_over_and_die(void *unused)
{
    adm_ticket_t ticket;

    child = join();
    NEED(ask(RUNS, &ticket) == ADM_ADMITTED);
    atomic_store(&shared[1], 1);
    NEED_SOON(atomic_load(&shared[0]) == 1);
    adm_fault_arm(ADM_FAULT_grant_unlocked, 1);
    leave(&ticket);
    return 0;
}

/* However long it takes until whoever hands over is done, its worker is counted
 * no more: or many short requests in a row would seem to need many workers. */
TEST(a_worker_is_released_before_its_permit_is_handed_over)
{
    adm_ticket_t waiting;
    pid_t other;

    make_zone(1, 10);
    other = start(hand_over_and_die, NULL);
    WAIT_FOR(atomic_load(&shared[1]) == 1);
    ck_assert_int_eq(ask(PARKS, &waiting), ADM_WAITING);
    atomic_store(&shared[0], 1);
    ck_assert_int_eq(end_of(other), -SIGKILL);
    ck_assert(adm_ticket_is_granted(&waiting));
    ck_assert_uint_eq(atomic_load(&segment->header->workers_held), 0);
}
