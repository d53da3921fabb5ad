/* test_spool.c - what is kept for slow clients, and the worker that stays. */
#include <signal.h>

#include "core/adm_child.h"
#include "spool/spool_shm.h"
#include "test_story.h"

/* ---- bytes ---------------------------------------------------------------- */

TEST(no_more_is_buffered_than_the_limit)
{
    tell("zone 1 100; cap 10");
    ck_assert(spool_reserve(child, 60, 100));
    ck_assert(spool_reserve(child, 40, 100));
    ck_assert(!spool_reserve(child, 1, 100));
    ck_assert_uint_eq(spool_bytes(segment), 100);
    ck_assert(spool_reserve(child, 1, 101));
    spool_release(child, 41);
    ck_assert_uint_eq(spool_bytes(segment), 60);
    ck_assert(spool_reserve(child, 40, 100));
    spool_release(child, 100);
    ck_assert_uint_eq(spool_bytes(segment), 0);
}

static int keep_and_stay(void *unused)
{
    adm_child_t *other = join();

    NEED(spool_reserve(other, 70, 100));
    NEED(adm_worker_begin_transfer(other));
    return stay();
}

TEST(bytes_of_a_killed_child_count_no_longer)
{
    pid_t pid;

    tell("zone 1 100; cap 10");
    pid = start_to_stay(keep_and_stay, NULL);
    ck_assert_uint_eq(spool_bytes(segment), 70);
    ck_assert_uint_eq(shown("transfers"), 1);
    ck_assert(!spool_reserve(child, 40, 100));
    ck_assert(spool_reserve(child, 30, 100));
    kill_noticed(pid);
    ck_assert_uint_eq(spool_bytes(segment), 30);
    ck_assert_uint_eq(shown("transfers"), 0);
    ck_assert(spool_reserve(child, 70, 100));
    adm_round(child, adm_now(), true);
    ck_assert_uint_eq(spool_bytes(segment), 100);
    spool_release(child, 100);
}

static int die_asking(void *unused)
{
    adm_child_t *other = join();

    adm_fault_arm(ADM_FAULT_spool_taken, 1);
    spool_reserve(other, 70, 100);
    return 1;
}

TEST(a_child_killed_during_its_request_has_taken_nothing)
{
    tell("zone 1 100; cap 10");
    ck_assert_int_eq(play(die_asking, NULL), -SIGKILL);
    adm_round(child, adm_now(), true);
    ck_assert_uint_eq(spool_bytes(segment), 0);
    ck_assert(spool_reserve(child, 100, 100));
    spool_release(child, 100);
}

static int give_back_what_the_parent_has(void *unused)
{
    adm_child_forget_self();
    spool_release(child, 50);
    adm_worker_end_transfer(child);
    return 0;
}

TEST(a_process_that_the_child_forked_gives_nothing_back)
{
    tell("zone 1 100; cap 10");
    ck_assert(spool_reserve(child, 50, 100));
    ck_assert(adm_worker_begin_transfer(child));
    ck_assert_int_eq(play(give_back_what_the_parent_has, NULL), 0);
    ck_assert_uint_eq(spool_bytes(segment), 50);
    ck_assert_uint_eq(shown("transfers"), 1);
    spool_release(child, 50);
    adm_worker_end_transfer(child);
}

TEST(giving_back_more_than_was_taken_is_found)
{
    tell("zone 1 100; cap 10");
    spool_release(child, 1);
    ck_assert_ptr_nonnull(adm_check(segment));
    ck_assert(spool_reserve(child, 1, 100));
}

/* ---- connections ---------------------------------------------------------- */

TEST(a_transfer_takes_a_connection_as_a_parked_request_does)
{
    tell("zone 0 100; cap 10; budget 2 2 3");
    ck_assert(adm_worker_begin_transfer(child));
    tell("parks A parked; has-room 0");
    ck_assert(!adm_worker_begin_transfer(child));
    tell("transfers 1");
    adm_worker_end_transfer(child);
    tell("has-room 1; A gone; transfers 0");
}

/* ---- the worker ----------------------------------------------------------- */

TEST(a_permit_is_released_before_its_worker)
{
    adm_ticket_t *first = request('A');

    tell("zone 1 100; cap 10; runs A in");
    ck_assert(adm_ticket_is_in_use(first));
    adm_ticket_return_worker(first);
    tell("active 1; workers 0; cap 0");
    adm_ticket_take_worker(first);
    tell("workers 1; cap 10");
    adm_ticket_release_permit(first, adm_now());
    ck_assert(adm_ticket_is_in_use(first));
    tell("active 0; workers 1; runs B in; workers 2; A leaves; active 1");
    adm_ticket_return_worker(first);
    adm_ticket_return_worker(first);
    ck_assert(!adm_ticket_is_in_use(first));
    tell("workers 1; B leaves; workers 0");
}

TEST(a_permit_is_left_to_a_program_before_its_worker)
{
    adm_ticket_t *first = request('A');

    tell("zone 1 100; cap 10; runs A in");
    adm_ticket_abandon(first, true, adm_now());
    ck_assert(adm_ticket_is_in_use(first));
    tell("active 1; workers 1");
    adm_ticket_return_worker(first);
    ck_assert(!adm_ticket_is_in_use(first));
    tell("active 1; workers 0");
}
