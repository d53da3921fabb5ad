/* test_reserve.c - zones together occupy no more workers than the cap. */

#include <signal.h>

#include "core/adm_worker.h"
#include "test_story.h"

static adm_outcome_t ask(adm_entry_t entry, adm_ticket_t *ticket)
{
    return enter_as(child, zone, entry, adm_now(), ticket);
}

STORY(the_cap_is_reached_and_not_exceeded,
      "zone 10 100; cap 2; runs A in; blocks B in; runs C reserve; active 2; reserve 1; workers 2");

STORY(a_worker_is_released_with_the_permit,
      "zone 10 100; cap 1; runs A in; A leaves; workers 0; runs A in");

STORY(a_rejected_request_takes_no_worker, "zone 1 100; cap 5; runs A in; runs B full; workers 1");

STORY(a_parked_request_takes_no_worker,
      "zone 0 100; cap 0; parks A waits; workers 0; blocks B reserve; waiting 1");

STORY(a_blocked_request_releases_its_worker_when_it_leaves,
      "zone 0 100; cap 1; blocks A waits; workers 1; A timeout; workers 0");

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

TEST(a_retired_zone_gives_the_worker_back)
{
    tell("zone 1 100; cap 10");
    zone.incarnation++;
    ck_assert_int_eq(ask(RUNS, request('A')), ADM_UNLIMITED);
    ck_assert_int_eq(request('A')->fault, ADM_ZONE_RETIRED);
    ck_assert_uint_eq(atomic_load(&segment->header->workers_held), 0);
}

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
    tell("zone 1 100; cap %d", CAP);
    play_together(RUNNERS, take_and_return);
    tell("round; workers 0");
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
