/* test_lock.c - the lock tells that its owner died, and never deadlocks. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_support.h"

/* In the segment, so that processes share it: a zone's lock. */
static adm_lock_t *lock_of_a_zone(void)
{
    return &rec_of_zone(zone_with(1, 1))->lock;
}

TEST(a_second_acquire_of_the_same_thread_returns_busy)
{
    adm_lock_t *lock = lock_of_a_zone();
    adm_lock_t *other = lock_of_a_zone();

    ck_assert_int_eq(adm_lock_acquire(lock, NEVER), ADM_LOCKED);
    ck_assert_int_eq(adm_lock_acquire(lock, NEVER), ADM_LOCK_BUSY);
    ck_assert_int_eq(adm_lock_acquire(other, NEVER), ADM_LOCK_BUSY);
    ck_assert(adm_lock_is_held_here());
    adm_lock_release(lock);
}

static void *acquire_in_thread(void *lock)
{
    adm_lock_result_t result = adm_lock_acquire(lock, NEVER);

    if (result == ADM_LOCKED_OWNER_DIED) {
        adm_lock_mark_repaired(lock);
    }
    adm_lock_release(lock);
    return (void *)(intptr_t)result;
}

static int hold_until_killed(void *lock)
{
    NEED(adm_lock_acquire(lock, NEVER) == ADM_LOCKED);
    return stay();
}

TEST(a_process_blocked_when_the_owner_dies_is_notified)
{
    adm_lock_t *lock = lock_of_a_zone();
    pid_t owner = start_to_stay(hold_until_killed, lock);
    pthread_t thread;
    void *result;

    ck_assert_int_eq(pthread_create(&thread, NULL, acquire_in_thread, lock), 0);
    kill_unnoticed(owner);
    pthread_join(thread, &result);
    ck_assert_int_eq((intptr_t)result, ADM_LOCKED_OWNER_DIED);
}

TEST(a_lock_given_back_unrepaired_is_broken)
{
    adm_lock_t *lock = lock_of_a_zone();

    kill_unnoticed(start_to_stay(hold_until_killed, lock));
    ck_assert_int_eq(adm_lock_acquire(lock, NEVER), ADM_LOCKED_OWNER_DIED);
    adm_lock_release(lock);
    ck_assert_int_eq(adm_lock_acquire(lock, NEVER), ADM_LOCK_BROKEN);
    ck_assert(!adm_lock_is_held_here());
    ck_assert(adm_lock_owner_is_dead(lock));
}

/* ---- locks held for life ------------------------------------------------- */

/* A program that it has started ends before. */
static int live(void *lock)
{
    pid_t program;

    NEED(adm_lock_hold_for_life(lock) == ADM_LOCKED);
    program = fork();
    if (program == 0) {
        _exit(0);
    }
    NEED(end_of(program) == 0);
    return stay();
}

static pid_t start_life(adm_lock_t *lock)
{
    return start_to_stay(live, lock);
}

TEST(death_is_seen_before_the_process_is_reaped)
{
    adm_lock_t *lock = lock_of_a_zone();
    pid_t owner = start_life(lock);
    siginfo_t info;

    kill(owner, SIGKILL);
    ck_assert_int_eq(waitid(P_PID, (id_t)owner, &info, WEXITED | WNOWAIT), 0);
    ck_assert(adm_lock_owner_is_dead(lock));
    ck_assert_int_eq(end_of(owner), -SIGKILL);
}

TEST(deaths_are_not_checked_in_a_critical_section)
{
    adm_lock_t *lock = lock_of_a_zone();
    adm_lock_t *life = lock_of_a_zone();

    kill_unnoticed(start_life(life));
    ck_assert_int_eq(adm_lock_acquire(lock, NEVER), ADM_LOCKED);
    ck_assert(!adm_lock_owner_is_dead(life));
    adm_lock_release(lock);
    ck_assert(adm_lock_owner_is_dead(life));
    ck_assert(adm_lock_owner_is_dead(life)); /* in every check */
}

TEST(the_end_of_a_forked_process_is_not_the_owners)
{
    adm_lock_t *lock = lock_of_a_zone();
    pid_t owner = start_life(lock);

    ck_assert(!adm_lock_owner_is_dead(lock));
    ck_assert_int_eq(adm_lock_hold_for_life(lock), ADM_LOCK_BUSY);
    kill_unnoticed(owner);
}
