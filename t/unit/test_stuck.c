/* test_stuck.c - a process is stopped while it holds a zone's lock. */
#include <pthread.h>
#include <signal.h>

#include <apr_time.h>

#include "core/adm_agent.h"
#include "test_support.h"

WITH_FLOWS_TOO;

static adm_zone_t other_zone;

/* ---- the stopped process --------------------------------------------------- */

static adm_fault_t point = ADM_FAULT_enter_locked;

static int stop_inside(void *unused)
{
    adm_child_t *self = join();
    adm_ticket_t ticket;
    adm_outcome_t outcome;

    adm_fault_arm_stop(point, 1);
    outcome = enter(self, zone, &ticket);
    NEED(outcome == ADM_ADMITTED || outcome == ADM_WAITING);
    leave(&ticket);
    return 0;
}

static pid_t stopped;

static pid_t start_stopped(void)
{
    return wait_until_stopped(start(stop_inside, NULL));
}

static void let_go_on(pid_t pid)
{
    kill(pid, SIGCONT);
    ck_assert_int_eq(end_of(pid), 0);
    adm_child_ended(segment, pid);
}

/* As if other processes had waited for the lock: the next ones wait briefly. */
static void seem_stuck_for(adm_usec_t time)
{
    atomic_store(&rec_of_zone(zone)->stuck_since, adm_now() - time);
}

static void set_scene(void)
{
    zone = zone_with(1, 10);
    other_zone = zone_with(1, 10);
    child = join();
}

/* Of the zone, with a holder and a waiter of this child in it. */
static adm_ticket_t inside, waiting;

static void hold_and_wait(void)
{
    set_scene();
    ck_assert_int_eq(enter(child, zone, &inside), ADM_ADMITTED);
    ck_assert_int_eq(enter(child, zone, &waiting), ADM_WAITING);
}

/* When both have left, too. */
static void assert_all_is_back(void)
{
    adm_ticket_t next;

    leave(&inside);
    leave(&waiting);
    adm_round(child, adm_now(), true);
    ck_assert_uint_eq(active_in(zone), 0);
    ck_assert_uint_eq(queued_in(zone), 0);
    ck_assert_int_eq(enter(child, zone, &next), ADM_ADMITTED);
    leave(&next);
    ck_assert_int_eq(atomic_load(&rec_of_zone(zone)->stuck_since), 0);
}

static enum adm_life_state_t life_of(uint32_t idx)
{
    return adm_life_state(atomic_load(&adm_child_at(segment, idx)->life));
}

/* ---- other processes ------------------------------------------------------------------ */

static int register_and_use_another_zone(void *unused)
{
    adm_child_t *self = join();
    adm_ticket_t ticket;

    NEED(enter(self, other_zone, &ticket) == ADM_ADMITTED);
    leave(&ticket);
    return 0;
}

/* Loop test: wherever inside the lock it is stopped. Each of them hangs if
 * anything waits for the lock without an end. */
static const adm_fault_t points_inside[] = { ADM_FAULT_enter_locked, ADM_FAULT_enter_filled,
                                             ADM_FAULT_enter_stored, ADM_FAULT_leave_stored,
                                             ADM_FAULT_leave_unlinked };

TESTS(a_stopped_owner_delays_no_other_zone_and_no_new_child, 0, COUNT(points_inside))
{
    adm_zone_stats_t stats;

    set_scene();
    point = points_inside[_i];
    stopped = start_stopped();
    adm_round(child, adm_now(), true);
    ck_assert_int_eq(enter(child, other_zone, &inside), ADM_ADMITTED);
    ck_assert_int_eq(enter(child, other_zone, &waiting), ADM_WAITING);
    leave(&inside);
    ck_assert(adm_ticket_is_granted(&waiting));
    leave(&waiting);
    ck_assert_int_eq(adm_view_zone(child, other_zone, adm_now(), &stats, NULL), APR_SUCCESS);
    ck_assert_int_eq(adm_view_zone(child, zone, adm_now(), &stats, NULL), ADM_ZONE_BUSY);
    ck_assert_int_eq(play(register_and_use_another_zone, NULL), 0);
    (_i % 2 ? kill_noticed : let_go_on)(stopped);
    assert_all_is_back();
}

TEST(requests_of_its_own_zone_wait_for_a_second_at_most)
{
    adm_ticket_t ticket;
    adm_usec_t began;

    set_scene();
    stopped = start_stopped();
    began = adm_now();
    ck_assert_int_eq(enter(child, zone, &ticket), ADM_UNLIMITED);
    ck_assert_int_eq(ticket.fault, ADM_ZONE_BUSY);
    ck_assert_int_ge(adm_now() - began, ADM_USEC_PER_SEC);
    ck_assert_int_lt(adm_now() - began, ADM_LOCK_LONG_USEC);
    ck_assert_uint_eq(ticket.held, 0);
    /* The next request does not wait. */
    began = adm_now();
    ck_assert_int_eq(enter(child, zone, &ticket), ADM_UNLIMITED);
    ck_assert_int_eq(ticket.fault, ADM_ZONE_BUSY);
    ck_assert_int_lt(adm_now() - began, ADM_USEC_PER_SEC);
    kill_unnoticed(stopped);
    assert_all_is_back();
}

static int enter_and_leave(void *unused)
{
    adm_ticket_t ticket;

    NEED(enter(join(), zone, &ticket) != ADM_UNLIMITED);
    leave(&ticket);
    return 0;
}

/* A mark in the future is never a second old, as if other processes got the lock
 * all the time. */
TEST(requests_wait_as_long_as_others_get_the_lock)
{
    pid_t waiting_process;

    set_scene();
    stopped = start_stopped();
    seem_stuck_for(-3600 * ADM_USEC_PER_SEC);
    waiting_process = start(enter_and_leave, NULL);
    apr_sleep(2 * ADM_LOCK_STUCK_USEC);
    let_go_on(stopped);
    ck_assert_int_eq(end_of(waiting_process), 0);
    adm_child_ended(segment, waiting_process);
    assert_all_is_back();
}

TEST(an_old_mark_of_a_stuck_zone_is_ignored)
{
    hold_and_wait();
    seem_stuck_for(2 * ADM_LOCK_STUCK_USEC);
    ck_assert(adm_ticket_seems_over(&waiting, adm_now()));
    ck_assert_int_eq(adm_ticket_outcome(&waiting, NEVER, adm_now()), ADM_WAITING);
    ck_assert(!adm_ticket_seems_over(&waiting, adm_now()));
    seem_stuck_for(-3600 * ADM_USEC_PER_SEC); /* a mark in the future, too */
    ck_assert(!adm_ticket_seems_over(&waiting, adm_now()));
    assert_all_is_back();
}

/* ---- requests that leave -------------------------------------------------------------------- */

static void get_stuck(void)
{
    hold_and_wait();
    stopped = start_stopped();
    seem_stuck_for(ADM_LOCK_STUCK_USEC);
}

/* Loop test: the owner goes on and hands out what was released meanwhile, or it dies and a
 * round does. */
TESTS(a_permit_that_is_left_in_a_stuck_zone_is_handed_out, 0, 2)
{
    unsigned wakes;

    get_stuck();
    wakes = adm_agent_wakes(segment);
    leave(&inside);
    /* The owner of the lock may have read the notes already. */
    ck_assert_uint_gt(adm_agent_wakes(segment), wakes);
    ck_assert_uint_eq(inside.held, 0);
    ck_assert(!adm_ticket_is_granted(&waiting));
    if (_i) {
        kill_unnoticed(stopped);
        adm_round(child, adm_now(), true);
    }
    else {
        let_go_on(stopped);
    }
    ck_assert(adm_ticket_is_granted(&waiting));
    assert_all_is_back();
}

/* Loop test: the owner goes on, or dies. A new ticket in the same place is not ended for the
 * old one. */
TESTS(requests_that_left_a_stuck_zone_are_gone_and_counted, 0, 2)
{
    adm_ticket_t next;

    get_stuck();
    leave(&inside);
    ck_assert_int_eq(adm_ticket_cancel(&waiting, ADM_TIMEOUT, adm_now()), ADM_TIMEOUT);
    ck_assert_uint_eq(waiting.held, 0);
    if (_i) {
        atomic_store(&rec_of_zone(zone)->has_left, 0); /* by the owner that is killed then */
    }
    (_i ? kill_unnoticed : let_go_on)(stopped);
    ck_assert_int_eq(enter_as(child, zone, HURRIES, adm_now(), &next), ADM_ADMITTED);
    ck_assert_uint_eq(stats_of(child, zone).figures.outcomes[ADM_TIMEOUT], 1);
    atomic_store(&rec_of_zone(zone)->has_left, 1);
    adm_round(child, adm_now(), true);
    ck_assert(adm_ticket_is_granted(&next));
    ck_assert_uint_eq(active_in(zone), 1);
    leave(&next);
    assert_all_is_back();
}

TEST(an_earlier_grant_keeps_its_permit)
{
    adm_usec_t expired;

    hold_and_wait();
    leave(&inside);
    stopped = start_stopped();
    expired = rec_of_ticket(&waiting)->lease_until_usec;
    ck_assert_int_eq(adm_lease_check(child, zone, expired), expired + ADM_LOCK_BRIEF_USEC);
    seem_stuck_for(ADM_LOCK_STUCK_USEC);
    ck_assert_int_eq(adm_ticket_cancel(&waiting, ADM_UNLIMITED, adm_now()), ADM_WAITED);
    ck_assert_int_eq(wait_until(&waiting, NEVER), ADM_WAITED);
    let_go_on(stopped);
    assert_all_is_back();
}

TEST(a_program_that_still_runs_keeps_the_permit)
{
    get_stuck();
    adm_program_announce(&inside, ADM_START_HERE);
    adm_ticket_abandon(&inside, false, adm_now());
    let_go_on(stopped);
    ck_assert_uint_eq(orphans_in(zone), 1);
    ck_assert(!adm_ticket_is_granted(&waiting));
    for (int round = 0; round < 3; round++) { /* there is none */
        adm_round(child, adm_now() + round * ADM_USEC_PER_SEC, true);
    }
    ck_assert(adm_ticket_is_granted(&waiting));
    assert_all_is_back();
}

TEST(a_waiter_in_a_stuck_zone_runs_unlimited)
{
    get_stuck();
    ck_assert_int_eq(wait_until(&waiting, NEVER), ADM_UNLIMITED);
    ck_assert_int_eq(waiting.fault, ADM_ZONE_BUSY);
    ck_assert_int_eq(adm_ticket_cancel(&waiting, ADM_UNLIMITED, adm_now()), ADM_UNLIMITED);
    leave(&inside);
    let_go_on(stopped);
    assert_all_is_back();
}

/* ---- permits that move ------------------------------------------------------- */

static void *continue_later(void *unused)
{
    apr_sleep(5 * ADM_LOCK_BRIEF_USEC);
    kill(stopped, SIGCONT);
    return NULL;
}

/* It would wait for its sender, which waits for it. A busy machine might take more than the second. */
TEST(a_permit_moves_on_when_the_lock_is_free_again)
{
    char name[ADM_TICKET_NAME_LENGTH];
    adm_ticket_t successor = { 0 };
    adm_successor_t moved;
    adm_usec_t began;
    pthread_t thread;

    set_scene();
    ck_assert_int_eq(enter(child, zone, &inside), ADM_ADMITTED);
    adm_ticket_name(&inside, name);
    stopped = start_stopped();
    ck_assert_int_eq(pthread_create(&thread, NULL, continue_later, NULL), 0);
    began = adm_now();
    do {
        moved = adm_successor_take(child, zone, name, adm_now(), &successor);
    } while (moved == ADM_SUCCESSOR_NONE && adm_now() - began >= ADM_USEC_PER_SEC);
    ck_assert_int_eq(moved, ADM_SUCCESSOR_MOVED);
    pthread_join(thread, NULL);
    ck_assert_int_eq(end_of(stopped), 0);
    leave(&successor);
    assert_all_is_back();
}

/* ---- children that die ----------------------------------------------------------- */

static int hold_in_both_zones(void *unused)
{
    adm_child_t *self = join();
    adm_ticket_t here, there;

    NEED(enter(self, zone, &here) == ADM_ADMITTED);
    NEED(enter(self, other_zone, &there) == ADM_ADMITTED);
    atomic_store(shared, self->idx);
    return stay();
}

TEST(permits_of_dead_children_in_a_stuck_zone_are_reclaimed_later)
{
    uint32_t idx;
    pid_t holder;

    set_scene();
    holder = start_to_stay(hold_in_both_zones, NULL);
    idx = atomic_load(shared);
    stopped = start_stopped();
    kill_noticed(holder);
    ck_assert_uint_eq(adm_round(child, adm_now(), false), 1);
    ck_assert_uint_eq(active_in(other_zone), 0);
    ck_assert_uint_eq(active_in(zone), 1);
    ck_assert_int_eq(life_of(idx), ADM_LIFE_DEAD); /* it is not forgotten */
    let_go_on(stopped);
    /* Not only after a whole second. */
    ck_assert_uint_ge(adm_round(child, adm_now() + ADM_WAIT_SLICE_USEC, false), 1);
    ck_assert_int_eq(life_of(idx), ADM_LIFE_FREE);
    assert_all_is_back();
}
