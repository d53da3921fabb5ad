/* test_reap.c - permits of dead children are reclaimed once. */
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "core/adm_fault.h"
#include "core/adm_pool.h"
#include "core/adm_zone.h"
#include "test_support.h"

WITH_FLOWS_TOO;

enum { HELD = 100 }; /* more than a chunk */

TEST(unannounced_deaths_are_found_once_per_second)
{
    adm_usec_t now = adm_now();

    stage(1, 10); /* checks, and again in a second */
    kill_unnoticed(start_holder(1));
    ck_assert_uint_eq(adm_round(child, now, false), 0);
    ck_assert_uint_eq(adm_round(child, adm_now() + 2 * ADM_USEC_PER_SEC, false), 1);
    ck_assert_uint_eq(active_in(zone), 0);
}

/* 70 are two searches: a third one kills the reaper. */
static int reap_in_two_searches(void *unused)
{
    adm_fault_arm(ADM_FAULT_reap_done, 3);
    adm_round(join(), adm_now(), true);
    return 0;
}

TEST(children_that_die_together_are_reaped_in_one_visit_to_all_zones)
{
    pid_t victims[70];
    unsigned n;

    make_segment(2, 80, 256);
    zone = zone_called("one", 100, 0);
    child = join();
    for (n = 0; n < COUNT(victims); n++) {
        victims[n] = start_holder(1);
    }
    for (n = 0; n < COUNT(victims); n++) {
        kill_noticed(victims[n]);
    }
    ck_assert_int_eq(play(reap_in_two_searches, NULL), 0);
    ck_assert_uint_eq(active_in(zone), 0);
}

/* ---- reapers meet, reapers are slow -------------------------------------- */

static void audit_together(adm_child_t *self)
{
    atomic_fetch_add(&shared[1], 1);
    while (atomic_load(&shared[2]) == 0) {
    }
    atomic_fetch_add(&shared[3], adm_round(self, adm_now(), true));
}

static int audit_in_process(void *unused)
{
    audit_together(join());
    return 0;
}

static void *audit_in_thread(void *unused)
{
    audit_together(child);
    return NULL;
}

/* The permit of a living child stays. */
TEST(processes_and_threads_reap_each_ticket_once)
{
    unsigned round;
    pid_t living;

    stage(HELD + 1, 0);
    living = start_holder(1);
    for (round = 0; round < 20; round++) {
        pid_t victim = start_holder(HELD), other;
        pthread_t threads[2];
        unsigned n;

        memset(shared, 0, 4 * sizeof(*shared));
        other = start(audit_in_process, NULL);
        for (n = 0; n < 2; n++) {
            pthread_create(&threads[n], NULL, audit_in_thread, NULL);
        }
        WAIT_FOR(atomic_load(&shared[1]) == 3);
        ck_assert_uint_eq(active_in(zone), HELD + 1);
        kill_noticed(victim);
        atomic_store(&shared[2], 1);
        ck_assert_int_eq(end_of(other), 0);
        for (n = 0; n < 2; n++) {
            pthread_join(threads[n], NULL);
        }
        ck_assert_uint_eq(atomic_load(&shared[3]), HELD);
        ck_assert_uint_eq(active_in(zone), 1);
        ck_assert_uint_eq(adm_round(child, adm_now(), true), 0);
    }
    ck_assert_uint_eq(stats_of(child, zone).figures.reclaimed, 20 * HELD);
    kill_unnoticed(living);
}

/* A reaper reads that a child is dead and is overtaken: another one reaps it,
 * a new child gets the record, enters, and only then the slow one goes on. It
 * finds the zone's lock taken, so it stands still exactly there. */
static void *reap_slowly(void *unused)
{
    atomic_store(&shared[1], 1);
    return (void *)(uintptr_t)adm_round(child, adm_now(), true);
}

TEST(a_slow_reaper_takes_nothing_from_the_records_next_owner)
{
    pthread_t slow;
    adm_zone_rec_t *rec;
    adm_ticket_rec_t *ticket;
    apr_status_t rv;
    void *count;

    make_segment(2, 2, 64);
    uses_flows = false; /* the heir's ticket is made by hand */
    zone = zone_called("one", 10, 0);
    child = join();
    kill_noticed(start_holder(1));
    ticket = adm_ticket_at(segment, 1);
    rec = adm_zone_lock(segment, zone.idx, &rv);
    ck_assert_uint_eq(atomic_load(&ticket->state), ADM_TICKET_ACTIVE);
    pthread_create(&slow, NULL, reap_slowly, NULL);
    WAIT_FOR(atomic_load(&shared[1]) == 1);
    /* Once it waits for the lock it has read the life: waiters are marked in
     * the lock's word. */
    WAIT_FOR(*(volatile int *)&rec->lock.mutex & (int)0x80000000);

    /* The other reaper and the heir, done by hand under the same lock. */
    adm_zone_end_ticket_locked(segment, rec, 1);
    atomic_store(&adm_child_at(segment, 2)->cleared_as, 1);
    atomic_store(&adm_child_at(segment, 2)->life, adm_life(getpid(), 1, ADM_LIFE_LIVE));
    ck_assert_uint_eq(adm_pool_take_locked(segment, rec), 1);
    atomic_store(&ticket->state, ADM_TICKET_ACTIVE);
    atomic_store(&rec->active, 1);
    adm_zone_unlock(segment, rec, adm_now());

    pthread_join(slow, &count);
    ck_assert_uint_eq((uintptr_t)count, 0);
    ck_assert_uint_eq(active_in(zone), 1);
}
