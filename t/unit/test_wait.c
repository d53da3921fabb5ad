/* test_wait.c - sleeping on a word, waiting for a permit. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>

#include "core/adm_zone.h"
#include "test_story.h"

/* ---- the word ------------------------------------------------------------ */

TEST(a_word_that_has_changed_prevents_the_sleep)
{
    atomic_store(shared, 1);
    adm_wait_sleep(shared, 0, NEVER);
    ck_assert_uint_eq(atomic_load(shared), 1);
}

TEST(a_past_deadline_prevents_the_sleep)
{
    adm_wait_sleep(shared, 0, adm_now());
    adm_wait_sleep(shared, 0, 0);
    adm_wait_sleep(shared, 0, INT64_MIN / 2);
}

TEST(sleep_ends_with_its_time)
{
    adm_usec_t until = adm_now() + 2 * ADM_USEC_PER_MSEC;

    while (adm_now() < until) {
        adm_wait_sleep(shared, 0, until);
    }
    ck_assert_uint_eq(atomic_load(shared), 0);
}

static void *sleep_on_word(void *unused)
{
    while (atomic_load(shared) == 0) {
        adm_wait_sleep(shared, 0, NEVER);
    }
    return NULL;
}

TEST(a_wake_up_reaches_all_sleepers)
{
    pthread_t threads[4];
    unsigned n;

    for (n = 0; n < 4; n++) {
        pthread_create(&threads[n], NULL, sleep_on_word, NULL);
    }
    atomic_store(shared, 1);
    adm_wait_wake(shared);
    for (n = 0; n < 4; n++) {
        pthread_join(threads[n], NULL);
    }
}

/* ---- waiting for a permit ------------------------------------------------ */

/* A child with a permit and a ticket in line behind it. */
static adm_ticket_t inside, waiting;

static void stand_in_line(void)
{
    stage(1, 10);
    ck_assert_int_eq(enter(child, zone, &inside), ADM_ADMITTED);
    ck_assert_int_eq(enter(child, zone, &waiting), ADM_WAITING);
}

/* Loop test: 1, another request has counted the waiter as admitted in between. */
TESTS(a_client_that_disconnects_at_the_start_is_counted_once, 0, 2)
{
    const adm_figures_t *figures;

    stand_in_line();
    figures = &rec_of_zone(zone)->figures;
    leave(&inside);
    ck_assert_int_eq(wait_until(&waiting, 0), ADM_WAITED);
    if (_i == 1) {
        ck_assert_int_eq(enter(child, zone, &inside), ADM_WAITING);
    }
    ck_assert_int_eq(adm_ticket_cancel(&waiting, ADM_GONE, adm_now()), ADM_GONE);
    ck_assert_uint_eq(figures->outcomes[ADM_GONE], _i == 0);
    ck_assert_uint_eq(figures->outcomes[ADM_WAITED], _i == 1);
}

TEST(a_wait_ends_with_its_time)
{
    stand_in_line();
    ck_assert_int_eq(wait_until(&waiting, 0), ADM_TIMEOUT);
    ck_assert_int_eq(wait_until(&waiting, adm_now() + 1000), ADM_TIMEOUT);
    ck_assert_uint_eq(queued_in(zone), 1);
}

TEST(a_waiter_whose_ticket_is_gone_runs_unlimited)
{
    adm_zone_rec_t *rec;
    apr_status_t rv;

    stand_in_line();
    rec = adm_zone_lock(segment, waiting.zone_idx, &rv);
    adm_zone_end_ticket_locked(segment, rec, waiting.idx);
    adm_zone_unlock(segment, rec, adm_now());
    ck_assert_int_eq(wait_until(&waiting, NEVER), ADM_UNLIMITED);
    ck_assert_int_eq(waiting.fault, ADM_BAD_SEGMENT);
    ck_assert_int_eq(adm_ticket_cancel(&waiting, ADM_UNLIMITED, adm_now()), ADM_UNLIMITED);
}

static void *wait_for_permit(void *until)
{
    atomic_store(shared, 1);
    return (void *)(intptr_t)wait_until(&waiting, *(adm_usec_t *)until);
}

/* Loop test: the child stops, or the permit is granted. */
TESTS(a_wait_that_sleeps_ends, 0, 2)
{
    adm_usec_t until = NEVER;
    pthread_t thread;
    void *result;

    stand_in_line();
    pthread_create(&thread, NULL, wait_for_permit, &until);
    WAIT_FOR(atomic_load(shared) == 1);
    if (_i) {
        leave(&inside);
    }
    else {
        ck_assert(!adm_child_is_stopping(child));
        adm_child_stop(child);
        ck_assert(adm_child_is_stopping(child));
    }
    pthread_join(thread, &result);
    ck_assert_int_eq((intptr_t)result, _i ? ADM_WAITED : ADM_STOPPED);
}

TEST(a_missing_wake_up_is_noticed)
{
    adm_usec_t until = NEVER;
    pthread_t thread;
    void *result;
    pid_t other;

    stage(1, 10);
    other = start_to_die_in_hand_over();
    ck_assert_int_eq(enter(child, zone, &waiting), ADM_WAITING);
    pthread_create(&thread, NULL, wait_for_permit, &until);
    ck_assert_int_eq(end_of(other), -SIGKILL);
    pthread_join(thread, &result);
    ck_assert_int_eq((intptr_t)result, ADM_WAITED);
    leave(&waiting);
}

/* Two processes hand one permit to and fro; each sleeps until it has it. If
 * each woke up by itself only, at the end of its slice, that would take more
 * than the deadline. */
enum { HAND_OVERS = 1000 };

static int pass_permit(void *unused)
{
    adm_child_t *player = join();
    unsigned n;

    for (n = 0; n < HAND_OVERS / 2; n++) {
        adm_ticket_t ticket;
        adm_outcome_t outcome = enter(player, zone, &ticket);

        NEED(outcome == ADM_ADMITTED || outcome == ADM_WAITING);
        NEED(wait_until(&ticket, NEVER) == ADM_WAITED);
        atomic_fetch_add(shared, 1);
        while (queued_in(zone) == 0 && atomic_load(shared) < HAND_OVERS - 1) {
            sched_yield();
        }
        pause_briefly(); /* the other one falls asleep meanwhile */
        leave(&ticket);
    }
    return 0;
}

TEST(hand_overs_wake_up_sleepers)
{
    zone = zone_with(1, 1);
    play_together(2, pass_permit);
    ck_assert_uint_eq(active_in(zone), 0);
}

/* ---- the length of a sleep ---------------------------------------------------- */

static void expect_slice(uint32_t waiters, uint32_t slices)
{
    static adm_ticket_t queue[400];
    uint32_t count = queued_in(zone);

    enter_many(child, zone, queue + count, waiters - count, ADM_WAITING);
    ck_assert_uint_eq(queued_in(zone), waiters);
    ck_assert_int_eq(adm_ticket_slice(&waiting), slices * ADM_WAIT_SLICE_USEC);
}

TEST(where_many_wait_each_sleeps_for_longer)
{
    make_segment(8, 8, 512);
    stage(1, 400);
    ck_assert_int_eq(enter(child, zone, &inside), ADM_ADMITTED);
    ck_assert_int_eq(enter(child, zone, &waiting), ADM_WAITING);
    expect_slice(1, 1);
    expect_slice(63, 1);
    expect_slice(64, 2);
    expect_slice(127, 2);
    expect_slice(192, 4);
    expect_slice(400, ADM_WAIT_SLICES_MAX);
}

/* ---- blocked requests ------------------------------------------------------ */

#define BLOCKED "zone 1 10; A in; blocks B waits; blocked 1; "

STORY(a_request_waiting_in_a_worker_is_blocked_until_granted,
      BLOCKED "A leaves; B ends; blocked 0; B leaves; blocked 0");

STORY(a_request_granted_at_the_timeout_is_no_longer_blocked, BLOCKED "A leaves; B kept; blocked 0");
