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

/* A test of one such lock. */
#define LOCK_TEST(name)                        \
    static void name##_with(adm_lock_t *lock); \
    TEST(name)                                 \
    {                                          \
        name##_with(lock_of_a_zone());         \
    }                                          \
    static void name##_with(adm_lock_t *lock)

/* Dies with the lock held. */
static int die_inside(void *lock)
{
    if (adm_lock_acquire(lock, NEVER) != ADM_LOCKED) {
        return 1;
    }
    kill(getpid(), SIGKILL);
    return 2;
}

static int die_during_repair(void *lock)
{
    if (adm_lock_acquire(lock, NEVER) != ADM_LOCKED_OWNER_DIED) {
        return 1;
    }
    kill(getpid(), SIGKILL);
    return 2;
}

LOCK_TEST(a_free_lock_is_taken_and_given_back)
{
    ck_assert(!adm_lock_is_held_here());
    ck_assert_int_eq(adm_lock_acquire(lock, NEVER), ADM_LOCKED);
    ck_assert(adm_lock_is_held_here());
    adm_lock_release(lock);
    ck_assert(!adm_lock_is_held_here());
    ck_assert_int_eq(adm_lock_acquire(lock, NEVER), ADM_LOCKED);
    adm_lock_release(lock);
}

LOCK_TEST(a_second_acquire_of_the_same_thread_returns_busy)
{
    adm_lock_t *other = lock_of_a_zone();

    ck_assert_int_eq(adm_lock_acquire(lock, NEVER), ADM_LOCKED);
    ck_assert_int_eq(adm_lock_acquire(lock, NEVER), ADM_LOCK_BUSY);
    ck_assert_int_eq(adm_lock_acquire(other, NEVER), ADM_LOCK_BUSY);
    ck_assert(adm_lock_is_held_here());
    adm_lock_release(lock);
}

#define ROUNDS 2000

/* Not atomic: the lock has to make it so. */
static uint32_t *counter_in(adm_zone_rec_t *zone)
{
    return &zone->figures.queued_max;
}

static int count_up(void *zone)
{
    adm_zone_rec_t *rec = zone;
    unsigned n;

    for (n = 0; n < ROUNDS; n++) {
        NEED(adm_lock_acquire(&rec->lock, NEVER) == ADM_LOCKED);
        *counter_in(rec) += 1;
        adm_lock_release(&rec->lock);
    }
    return 0;
}

static void *count_up_in_thread(void *zone)
{
    return (void *)(intptr_t)count_up(zone);
}

TEST(processes_and_threads_exclude_each_other)
{
    adm_zone_rec_t *zone = rec_of_zone(zone_with(1, 1));
    pid_t one = start(count_up, zone);
    pid_t other = start(count_up, zone);
    pthread_t thread;
    void *failed;

    ck_assert_int_eq(pthread_create(&thread, NULL, count_up_in_thread, zone), 0);
    ck_assert_int_eq(count_up(zone), 0);
    pthread_join(thread, &failed);
    ck_assert_ptr_null(failed);
    ck_assert_int_eq(end_of(one), 0);
    ck_assert_int_eq(end_of(other), 0);
    ck_assert_uint_eq(*counter_in(zone), 4 * ROUNDS);
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

LOCK_TEST(a_process_blocked_when_the_owner_dies_is_notified)
{
    pid_t owner = start_to_stay(hold_until_killed, lock);
    pthread_t thread;
    void *result;

    ck_assert_int_eq(pthread_create(&thread, NULL, acquire_in_thread, lock), 0);
    kill_unnoticed(owner);
    pthread_join(thread, &result);
    ck_assert_int_eq((intptr_t)result, ADM_LOCKED_OWNER_DIED);
}

LOCK_TEST(an_owner_killed_during_repair_is_reported_again)
{
    int n;

    ck_assert_int_eq(play(die_inside, lock), -SIGKILL);
    for (n = 0; n < 3; n++) {
        ck_assert_int_eq(play(die_during_repair, lock), -SIGKILL);
    }
    ck_assert_int_eq(adm_lock_acquire(lock, NEVER), ADM_LOCKED_OWNER_DIED);
    adm_lock_mark_repaired(lock);
    adm_lock_release(lock);
    ck_assert_int_eq(adm_lock_acquire(lock, NEVER), ADM_LOCKED);
    adm_lock_release(lock);
}

LOCK_TEST(a_lock_given_back_unrepaired_is_broken)
{
    ck_assert_int_eq(play(die_inside, lock), -SIGKILL);
    ck_assert_int_eq(adm_lock_acquire(lock, NEVER), ADM_LOCKED_OWNER_DIED);
    adm_lock_release(lock);
    ck_assert_int_eq(adm_lock_acquire(lock, NEVER), ADM_LOCK_BROKEN);
    ck_assert(!adm_lock_is_held_here());
    ck_assert(adm_lock_owner_is_dead(lock));
}

/* ---- locks held for life ------------------------------------------------- */

static int live(void *lock)
{
    NEED(adm_lock_hold_for_life(lock) == ADM_LOCKED);
    return stay();
}

static pid_t start_life(adm_lock_t *lock)
{
    return start_to_stay(live, lock);
}

LOCK_TEST(death_is_seen_before_the_process_is_reaped)
{
    pid_t owner = start_life(lock);
    siginfo_t info;

    kill(owner, SIGKILL);
    ck_assert_int_eq(waitid(P_PID, (id_t)owner, &info, WEXITED | WNOWAIT), 0);
    ck_assert(adm_lock_owner_is_dead(lock));
    ck_assert_int_eq(end_of(owner), -SIGKILL);
}

LOCK_TEST(the_lock_of_a_dead_child_is_reused)
{
    kill_unnoticed(start_life(lock));
    ck_assert(adm_lock_owner_is_dead(lock));
    ck_assert(adm_lock_owner_is_dead(lock)); /* in every check */
    kill_unnoticed(start_life(lock));
    ck_assert_int_eq(adm_lock_hold_for_life(lock), ADM_LOCKED);
}

LOCK_TEST(deaths_are_not_checked_in_a_critical_section)
{
    adm_lock_t *life = lock_of_a_zone();

    kill_unnoticed(start_life(life));
    ck_assert_int_eq(adm_lock_acquire(lock, NEVER), ADM_LOCKED);
    ck_assert(!adm_lock_owner_is_dead(life));
    adm_lock_release(lock);
    ck_assert(adm_lock_owner_is_dead(life));
}

static int fork_a_program(void *lock)
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

LOCK_TEST(the_end_of_a_forked_process_is_not_the_owners)
{
    pid_t owner = start_to_stay(fork_a_program, lock);

    ck_assert(!adm_lock_owner_is_dead(lock));
    ck_assert_int_eq(adm_lock_hold_for_life(lock), ADM_LOCK_BUSY);
    kill_unnoticed(owner);
}
