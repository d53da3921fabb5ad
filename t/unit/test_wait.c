/* test_wait.c - sleeping on a word, waiting for a permit. */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>

#include "core/adm_zone.h"
#include "test_story.h"

/* ---- the word ------------------------------------------------------------ */

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

#define GRANTED "zone 1 10; A in; B waits; A leaves; B ends; "

STORY(a_client_that_disconnects_at_the_start_is_counted_once, GRANTED "B gone; gone 1; queued 0");

/* Another request has counted the waiter as admitted in between. */
STORY(a_client_that_disconnects_after_the_start_is_counted_as_admitted,
      GRANTED "C waits; B gone; gone 0; queued 1");

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

TEST(a_wait_that_sleeps_ends_when_the_child_stops)
{
    adm_usec_t until = NEVER;
    pthread_t thread;
    void *result;

    stand_in_line();
    pthread_create(&thread, NULL, wait_for_permit, &until);
    WAIT_FOR(atomic_load(shared) == 1);
    ck_assert(!adm_child_is_stopping(child));
    adm_child_stop(child);
    ck_assert(adm_child_is_stopping(child));
    pthread_join(thread, &result);
    ck_assert_int_eq((intptr_t)result, ADM_STOPPED);
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
        /* The other one can have ended first: a late winner passes its permit on. */
        while (queued_in(zone) == 0 && !atomic_load(&shared[1])
               && atomic_load(shared) < HAND_OVERS - 1) {
            sched_yield();
        }
        pause_briefly(); /* the other one falls asleep meanwhile */
        leave(&ticket);
    }
    atomic_store(&shared[1], 1);
    return 0;
}

TEST(hand_overs_wake_up_sleepers)
{
    zone = zone_with(1, 1);
    play_together(2, pass_permit);
    ck_assert_uint_eq(active_in(zone), 0);
}

/* ---- the length of a sleep ---------------------------------------------------- */

TEST(where_many_wait_each_sleeps_for_longer)
{
    static const uint32_t waiters[] = { 1, 63, 64, 127, 192, 400 },
                          slices[] = { 1, 1, 2, 2, 4, ADM_WAIT_SLICES_MAX };
    static adm_ticket_t queue[400];
    uint32_t n, count = 0;

    make_segment(8, 8, 512);
    stage(1, 400);
    ck_assert_int_eq(enter(child, zone, &inside), ADM_ADMITTED);
    for (n = 0; n < COUNT(waiters); n++) {
        enter_many(child, zone, queue + count, waiters[n] - count, ADM_WAITING);
        count = waiters[n];
        ck_assert_int_eq(adm_ticket_slice(&queue[0]), slices[n] * ADM_WAIT_SLICE_USEC);
    }
}

/* ---- blocked requests ------------------------------------------------------ */

#define BLOCKED "zone 1 10; A in; blocks B waits; blocked 1; "

STORY(a_request_waiting_in_a_worker_is_blocked_until_granted,
      BLOCKED "A leaves; B ends; blocked 0; B leaves; blocked 0");

STORY(a_request_granted_at_the_timeout_is_no_longer_blocked, BLOCKED "A leaves; B kept; blocked 0");
