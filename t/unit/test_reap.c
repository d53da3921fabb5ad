/* test_reap.c - permits and queue slots of dead children are reclaimed once. */
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include "core/adm_pool.h"
#include "core/adm_zone.h"
#include "test_support.h"

WITH_FLOWS_TOO;

enum { HELD = 100 }; /* more than a chunk */

TEST(permits_of_a_killed_child_are_released)
{
    stage(HELD, 0);
    kill_noticed(start_holder(HELD));
    ck_assert_uint_eq(active_in(zone), HELD);
    ck_assert_uint_eq(adm_round(child, adm_now(), false), HELD);
    ck_assert_uint_eq(active_in(zone), 0);
    ck_assert_uint_eq(stats_of(child, zone).figures.reclaimed, HELD);
    ck_assert_uint_eq(adm_round(child, adm_now(), true), 0);
}

TEST(queue_slots_of_a_killed_child_close_up)
{
    adm_ticket_t first, last;
    pid_t pid;

    stage(0, HELD);
    ck_assert_int_eq(enter(child, zone, &first), ADM_WAITING);
    pid = start_holder(50);
    ck_assert_int_eq(enter(child, zone, &last), ADM_WAITING);
    kill_noticed(pid);
    ck_assert_uint_eq(adm_round(child, adm_now(), false), 50);
    ck_assert_uint_eq(queued_in(zone), 2);
}

TEST(unannounced_deaths_are_found_once_per_second)
{
    adm_usec_t now = adm_now();

    stage(1, 10); /* checks, and again in a second */
    kill_unnoticed(start_holder(1));
    ck_assert_uint_eq(adm_round(child, now, false), 0);
    ck_assert_uint_eq(adm_round(child, adm_now() + 2 * ADM_USEC_PER_SEC, false), 1);
    ck_assert_uint_eq(active_in(zone), 0);
}

TEST(living_children_keep_their_permits)
{
    pid_t victim, other;
    adm_ticket_t own;

    stage(3, 0);
    ck_assert_int_eq(enter(child, zone, &own), ADM_ADMITTED);
    victim = start_holder(1);
    other = start_holder(1);
    kill_noticed(victim);
    ck_assert_uint_eq(adm_round(child, adm_now(), false), 1);
    ck_assert_uint_eq(active_in(zone), 2);
    kill_unnoticed(other);
}

TEST(dead_children_are_reaped_from_every_zone)
{
    adm_zone_t other_zone = zone_with(5, 5);

    zone = other_zone;
    kill_unnoticed(start_holder(5));
    zone = zone_with(5, 5);
    kill_noticed(start_holder(7));
    child = join();
    ck_assert_uint_eq(active_in(zone), 0);
    ck_assert_uint_eq(queued_in(zone), 0);
    ck_assert_uint_eq(active_in(other_zone), 0);
}

/* ---- reapers meet, reapers are slow -------------------------------------- */

static int audit_at_once(void *unused)
{
    adm_child_t *other = join();

    atomic_fetch_add(&shared[1], 1);
    while (atomic_load(&shared[2]) == 0) {
    }
    atomic_fetch_add(&shared[3], adm_round(other, adm_now(), true));
    return 0;
}

TEST(two_reapers_free_each_ticket_once)
{
    unsigned round;

    stage(HELD, 0);
    for (round = 0; round < 20; round++) {
        pid_t victim = start_holder(HELD), one, other;
        uint32_t count;

        atomic_store(&shared[1], 0);
        atomic_store(&shared[2], 0);
        atomic_store(&shared[3], 0);
        one = start(audit_at_once, NULL);
        other = start(audit_at_once, NULL);
        WAIT_FOR(atomic_load(&shared[1]) == 2);
        kill_noticed(victim);
        atomic_store(&shared[2], 1);
        count = adm_round(child, adm_now(), true);
        ck_assert_int_eq(end_of(one), 0);
        ck_assert_int_eq(end_of(other), 0);
        ck_assert_uint_eq(count + atomic_load(&shared[3]), HELD);
        ck_assert_uint_eq(active_in(zone), 0);
        adm_round(child, adm_now(), true);
    }
    ck_assert_uint_eq(stats_of(child, zone).figures.reclaimed, 20 * HELD);
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
    pid_t heir;
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
    heir = getpid();
    atomic_store(&adm_child_at(segment, 2)->life, adm_life(heir, 1, ADM_LIFE_LIVE));
    ck_assert_uint_eq(adm_pool_take_locked(segment, rec), 1);
    atomic_store(&ticket->state, ADM_TICKET_ACTIVE);
    atomic_store(&rec->active, 1);
    adm_zone_unlock(segment, rec, adm_now());

    pthread_join(slow, &count);
    ck_assert_uint_eq((uintptr_t)count, 0);
    ck_assert_uint_eq(active_in(zone), 1);
}

/* ---- the round ----------------------------------------------------------- */

TEST(an_audit_below_a_critical_section_does_nothing)
{
    adm_zone_rec_t *rec;
    apr_status_t rv;

    stage(1, 0);
    kill_noticed(start_holder(1));
    rec = adm_zone_lock(segment, zone.idx, &rv);
    ck_assert_uint_eq(adm_round(child, adm_now(), true), 0);
    adm_zone_unlock(segment, rec, adm_now());
    ck_assert_uint_eq(active_in(zone), 1);
    ck_assert_uint_eq(adm_round(child, adm_now(), false), 1);
}

static void *audit_in_thread(void *count)
{
    unsigned n;

    for (n = 0; n < 50; n++) {
        *(uint32_t *)count += adm_round(child, adm_now(), true);
    }
    return NULL;
}

TEST(threads_of_a_child_may_audit_concurrently)
{
    pthread_t threads[4];
    uint32_t counts[4] = { 0 };
    unsigned n;

    stage(HELD, 0);
    kill_unnoticed(start_holder(HELD));
    for (n = 0; n < 4; n++) {
        pthread_create(&threads[n], NULL, audit_in_thread, &counts[n]);
    }
    for (n = 0; n < 4; n++) {
        pthread_join(threads[n], NULL);
    }
    ck_assert_uint_eq(counts[0] + counts[1] + counts[2] + counts[3], HELD);
    ck_assert_uint_eq(active_in(zone), 0);
}
