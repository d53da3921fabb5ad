/* test_reserve.c - zones together occupy no more workers than the cap, and only so many requests
 * wait with one.
 */
#include <signal.h>

#include "core/adm_worker.h"
#include "test_story.h"

static adm_outcome_t ask(adm_entry_t entry, adm_ticket_t *ticket)
{
    return enter_as(child, zone, entry, adm_now(), ticket);
}

STORY(the_cap_is_reached_and_not_exceeded,
      "zone 10 100; cap 2; runs A in; blocks B in; runs C reserve; active 2; reserve 1; workers 2");

STORY(a_rejected_request_takes_no_worker, "zone 1 100; cap 5; runs A in; runs B full; workers 1");

STORY(a_parked_request_takes_no_worker,
      "zone 0 100; cap 0; parks A waits; workers 0; blocks B reserve; waiting 1");

STORY(a_blocked_request_keeps_its_worker_for_the_run,
      "zone 1 100; cap 2; runs A in; blocks B waits; A leaves; B ends; workers 1; B leaves;"
      "workers 0");

STORY(a_parked_request_takes_a_worker_to_run,
      "zone 1 100; cap 1; runs A in; parks B parked; A leaves; workers 0; B unparks; workers 1;"
      "B leaves; workers 0");

STORY(a_request_that_cannot_park_blocks_a_worker,
      "zone 0 100; cap 1; parks A waits; A blocks; workers 1; blocked 1; A gone; workers 0;"
      "blocked 0");

STORY(a_request_that_can_neither_park_nor_block_is_rejected,
      "zone 0 100; cap 0; parks A waits; A cannot; waiting 0; blocked 0; parking 1; reserve 0;"
      "workers 0");

STORY(a_dry_run_is_let_in_beyond_the_cap_and_counted,
      "zone 1 100; cap 0; runs dry A in; workers 1; A leaves; workers 0");

STORY(a_request_that_needs_no_worker_ignores_the_cap, "zone 1 100; cap 0; hurries A in; workers 0");

STORY(a_caller_that_has_no_worker_left_is_believed,
      "zone 1 100; cap 10; denied A reserve; workers 0");

/* ---- kills --------------------------------------------------------------- */

static int take_and_stay(void *unused)
{
    adm_ticket_t tickets[3];

    child = join();
    NEED(ask(RUNS, &tickets[0]) == ADM_ADMITTED);
    NEED(adm_worker_occupy(child) == ADM_WORKER_NONE);
    NEED(ask(RUNS, &tickets[2]) == ADM_RESERVE);
    return stay();
}

/* Loop test: the parent noticed the death, or did not. */
TESTS(the_workers_of_a_killed_child_are_free_again, 0, 2)
{
    pid_t victim;

    tell("zone 10 100; cap 2");
    victim = start_to_stay(take_and_stay, NULL);
    tell("workers 2; runs A reserve");
    (_i ? kill_noticed : kill_unnoticed)(victim);
    tell("round; workers 0; runs AB in; runs C reserve");
}

/* What a kill between the two counters leaves. */
TEST(a_common_count_that_is_too_high_costs_no_worker)
{
    tell("zone 10 100; cap 2");
    atomic_store(&segment->header->workers_held, 5);
    ck_assert_int_eq(ask(RUNS, request('A')), ADM_ADMITTED);
    ck_assert_int_eq(ask(RUNS, request('B')), ADM_ADMITTED);
    ck_assert_int_eq(ask(RUNS, request('C')), ADM_RESERVE);
    ck_assert_uint_eq(shown("workers"), 2);
}

/* Otherwise many short requests in a row would seem to need many workers, while their
 * threads still hand over. */
TEST(a_worker_is_released_before_its_permit_is_handed_over)
{
    pid_t other;

    tell("zone 1 100; cap 10");
    other = start_to_die_in_hand_over();
    ck_assert_int_eq(ask(PARKS, request('A')), ADM_WAITING);
    atomic_store(&shared[0], 1);
    ck_assert_int_eq(end_of(other), -SIGKILL);
    ck_assert(adm_ticket_is_granted(request('A')));
    ck_assert_uint_eq(atomic_load(&segment->header->workers_held), 0);
}

static int stop_on_the_way_in(void *unused)
{
    adm_ticket_t ticket;

    child = join();
    adm_fault_arm_stop(ADM_FAULT_enter_locked, 1);
    return ask(PARKS, &ticket) == ADM_WAITING && stay();
}

/* Otherwise a burst of requests on a slow machine is rejected while a permit is free. */
TEST(a_request_that_enters_to_park_uses_up_no_worker)
{
    adm_ticket_t ticket;
    adm_zone_t other;
    pid_t entering;

    tell("zone 0 100; cap 1");
    other = zone_with(1, 10);
    entering = wait_until_stopped(start(stop_on_the_way_in, NULL));
    ck_assert_int_eq(enter_as(child, other, RUNS, adm_now(), &ticket), ADM_ADMITTED);
    kill_unnoticed(entering);
    leave(&ticket);
    tell("round; workers 0");
}

/* ---- requests that wait with a thread -------------------------------------- */

#define NOBODY "zone 0 100; cap 10; "
/* Only one may block, because a request with a permit lacks a thread. */
#define ONE_BLOCKS NOBODY "may-block 1; lacks 1; "

STORY(a_child_blocks_no_more_threads_than_it_may,
      ONE_BLOCKS "blocks A waits; blocks B reserve; waiting 1; blocked 1; workers 1; A gone;"
                 "blocks B waits");

/* The child then accepts no connections, and other children do. */
STORY(a_child_blocks_all_threads_while_no_request_lacks_one,
      NOBODY "may-block 1; blocks AB waits; occupies none; must-yield 0; workers 3; vacates;"
             "AB gone; workers 0");

/* Another request yields. The child may always block its last thread. */
STORY(for_each_that_lacks_a_thread_one_is_given_up,
      NOBODY "may-block 1; blocks ABC waits; lacks 1; must-yield 1; must-yield 0; B reserve;"
             "lacks 2; must-yield 1; A reserve; must-yield 0; C gone; workers 0");

STORY(a_worker_and_a_parked_request_use_up_connections,
      "zone 1 100; cap 10; budget 4 4 3; runs A in; has-room 1; parks B parked; has-room 0;"
      "A leaves; has-room 1; B unparks; workers 1; parks C waits; C gone; B leaves; workers 0");

STORY(a_child_that_accepts_no_connections_reserves_no_slots,
      NOBODY "budget 4 4 3; blocks A waits; parks B waits; accepts-no-more; has-room 1; B blocks;"
             "has-room 1; workers 2");

STORY(nor_a_worker, NOBODY "cap 1; blocks A waits; takes 0; accepts-no-more; parks B waits;"
                           "B blocks; workers 2");

STORY(a_request_that_cannot_park_does_not_block_the_last_thread,
      ONE_BLOCKS "blocks A waits; parks B waits; B cannot; waiting 1; blocked 1; workers 1");

STORY(a_blocked_thread_of_another_pool_takes_no_worker,
      ONE_BLOCKS "elsewhere A waits; blocks B waits; blocked 2; blocked-workers 1; A gone;"
                 "blocked 1; blocked-workers 1; B gone; blocked-workers 0");

STORY(a_request_granted_before_its_rejection_runs,
      "zone 1 100; cap 1; runs A in; parks BC waits; may-block 0; lacks 1; C cannot; A leaves;"
      "has B; B blocks; has B; workers 1; B leaves; workers 0");

/* A server that accepts 3 connections fewer for each busy worker, and has 10. HTTP/2 has
 * threads of its own. */
STORY(blocked_requests_leave_the_server_its_connections,
      NOBODY "budget 10 10 3; parks ABCD parked; blocks EF waits; has-room 0;"
             "blocks G parking; workers 2; parks G waits; G cannot; ABC gone; blocks G waits;"
             "elsewhere A waits");

/* A child may use what others of its generation leave. Loop test: the other
 * child is of this generation, or of an older one that accepts no more. */
TESTS(a_child_beyond_its_own_budget_has_that_of_the_server, 0, 2)
{
    const char *room = _i ? "ABCDEF" : "ABC", *letter;

    tell("zone 0 100; children 2; cap 10; budget 2 6 3; child 2 parks XYZ parked");
    atomic_fetch_sub(&request('X')->child->rec->generation, _i);
    for (letter = room; *letter; letter++) {
        tell("has-room 1; parks %c parked", *letter);
    }
    tell("has-room 0; %s gone", room);
}

/* ---- a worker that requests share ---------------------------------------- */

STORY(a_shared_worker_counts_like_others,
      "zone 10 100; cap 2; occupies none; workers 1; blocked-workers 0; runs A in; runs B reserve;"
      "occupies denied; workers 2; vacates; workers 1; A leaves; workers 0");

/* This leaves a thread for a parked request that is granted a permit. */
STORY(a_child_shares_and_blocks_no_more_threads_than_it_may,
      NOBODY "may-block 2; lacks 1; occupies none; blocks A waits; blocks B reserve;"
             "occupies denied; workers 2; vacates; blocks B waits; occupies denied; A gone;"
             "occupies none; B gone; vacates; workers 0; shared 0");

/* A server that accepts 3 connections fewer for each busy worker, and has 6. */
STORY(a_shared_worker_leaves_the_server_its_connections,
      NOBODY "budget 6 6 3; occupies none; parks A parked; occupies no-room; workers 1; A gone;"
             "occupies none; roomless A parking; vacates; vacates; workers 0");
