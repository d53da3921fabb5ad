/* test_churn.c - many processes and threads at once. */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/adm_child.h"
#include "test_support.h"

WITH_FLOWS_TOO;

enum { ZONES = 3, PROCESSES = 4, THREADS = 3, VISITS = 2000, LIMIT = 3 };

static adm_zone_t zones[ZONES];
static unsigned seed;

/* How many are inside a zone, as they themselves count. */
static atomic_uint *inside(unsigned n)
{
    return &shared[16 + n];
}

/* How often something became of a request, as they themselves count. */
static atomic_uint *became(unsigned n, adm_outcome_t outcome)
{
    return &shared[32 + n * ADM_OUTCOMES + outcome];
}

/* ---- visits -------------------------------------------------------------- */

/* Wait as a worker does, or as a dispatcher would; give up now and then. */
static adm_outcome_t wait_for_turn(adm_ticket_t *ticket, unsigned dice)
{
    adm_outcome_t outcome;

    switch (dice % 8) {
    case 0:
        return adm_ticket_cancel(ticket, ADM_GONE, adm_now());
    case 1:
    case 2:
        outcome = wait_until(ticket, adm_now() + (adm_usec_t)(dice >> 8) % 2000);
        return outcome == ADM_TIMEOUT ? adm_ticket_cancel(ticket, ADM_TIMEOUT, adm_now()) : outcome;
    case 3:
        adm_ticket_park(ticket, (dice >> 8) % ADM_PARK_SLOTS);
        while (!adm_ticket_is_granted(ticket)) {
            pause_briefly();
        }
        adm_ticket_unpark(ticket);
        /* The grant has a lease: until the ticket begins, it can be passed on. */
        return wait_until(ticket, NEVER);
    default:
        return wait_until(ticket, NEVER);
    }
}

/* @return 0, or 1 if more were inside than may be. */
static int visit(adm_child_t *child, unsigned *dice)
{
    unsigned n = (unsigned)rand_r(dice) % ZONES;
    adm_entry_t hurried_or_not[] = { RUNS, PARKS, PARKS, PARKS, RUNS, BLOCKS, BLOCKS, BLOCKS };
    adm_entry_t entry = hurried_or_not[(unsigned)rand_r(dice) % 8];
    adm_ticket_t ticket;
    adm_outcome_t outcome = enter_as(child, zones[n], entry, adm_now(), &ticket);

    if (outcome == ADM_WAITING) {
        outcome = wait_for_turn(&ticket, (unsigned)rand_r(dice));
    }
    atomic_fetch_add(became(n, outcome), 1);
    if (outcome == ADM_FULL || outcome == ADM_GONE || outcome == ADM_TIMEOUT) {
        NEED(!atomic_load(&ticket.held));
        return 0;
    }
    NEED(outcome == ADM_ADMITTED || outcome == ADM_WAITED);
    NEED(adm_ticket_is_granted(&ticket));
    NEED(atomic_fetch_add(inside(n), 1) + 1 <= LIMIT);
    sched_yield(); /* so that the limit is reached, and others wait */
    atomic_fetch_sub(inside(n), 1);
    leave(&ticket);
    return 0;
}

typedef struct visitor_t {
    adm_child_t *child;
    unsigned dice;
    unsigned visits;
} visitor_t;

static void *visit_often(void *context)
{
    visitor_t *visitor = context;
    int failed = 0;

    while (visitor->visits-- && !failed) {
        failed = visit(visitor->child, &visitor->dice);
    }
    return (void *)(intptr_t)failed;
}

static int churn(void *number)
{
    pthread_t threads[THREADS];
    visitor_t visitors[THREADS];
    adm_child_t *child = join();
    int failed = 0;
    unsigned n;

    for (n = 0; n < THREADS; n++) {
        visitors[n] = (visitor_t){ child, (seed + *(unsigned *)number) * 100 + n, VISITS };
        NEED(!pthread_create(&threads[n], NULL, visit_often, &visitors[n]));
    }
    for (n = 0; n < THREADS; n++) {
        void *result;

        pthread_join(threads[n], &result);
        failed |= result != NULL;
    }
    return failed;
}

static void make_zones(uint32_t limit)
{
    unsigned n;

    for (n = 0; n < ZONES; n++) {
        zones[n] = zone_with(limit, 5);
    }
}

static void assert_all_gone(adm_child_t *child)
{
    adm_server_stats_t stats;
    unsigned n;

    adm_round(child, adm_now(), true);
    for (n = 1; n <= segment->sizes.children; n++) {
        ck_assert_int_eq(adm_life_state(atomic_load(&adm_child_at(segment, n)->life)),
                         n == child->idx ? ADM_LIFE_LIVE : ADM_LIFE_FREE);
    }
    for (n = 0; n < ZONES; n++) {
        ck_assert_uint_eq(active_in(zones[n]), 0);
        ck_assert_uint_eq(queued_in(zones[n]), 0);
    }
    adm_view_server(segment, &stats);
    ck_assert_uint_eq(stats.workers_held, 0);
    ck_assert_uint_eq(stats.blocked, 0);
    ck_assert_uint_eq(stats.parked, 0);
}

static void assert_each_is_counted(void)
{
    adm_zone_stats_t stats;
    adm_outcome_t outcome;
    unsigned n, timeouts = 0;

    for (n = 0; n < ZONES; n++) {
        stats = stats_of(child, zones[n]);
        for (outcome = 0; outcome < ADM_OUTCOMES; outcome++) {
            ck_assert_msg(stats.figures.outcomes[outcome] == atomic_load(became(n, outcome)),
                          "zone %u: %s", n, adm_outcome_name(outcome));
        }
        timeouts += atomic_load(became(n, ADM_TIMEOUT));
    }
    ck_assert_uint_gt(timeouts, 0);
}

TEST(thousands_of_concurrent_requests_keep_the_limit_and_are_counted)
{
    make_zones(LIMIT);
    seed = seed_or((unsigned)adm_now());
    play_together(PROCESSES, churn);
    ck_assert_uint_eq(atomic_load(&segment->header->workers_held), 0);
    child = join();
    assert_all_gone(child);
    assert_each_is_counted();
}

/* The same, but each process is killed at a random moment and replaced. A
 * killed one is still counted inside, so the limit is not counted here; the
 * survivors check for dead children, as waiting requests of httpd do. */
static int churn_until_killed(void *context)
{
    adm_child_t *child = NULL;
    unsigned dice = *(unsigned *)context;

    /* Records of dead children are free when every zone could be locked. */
    NEED_SOON((child = try_to_join()) != NULL);
    atomic_fetch_add(shared, 1);
    for (;;) {
        adm_ticket_t ticket;
        adm_zone_t zone = zones[(unsigned)rand_r(&dice) % ZONES];

        if (enter(child, zone, &ticket) == ADM_WAITING) {
            atomic_fetch_add(&shared[1], 1);
            while (wait_until(&ticket, adm_now() + ADM_USEC_PER_MSEC) == ADM_TIMEOUT) {
                adm_round(child, adm_now(), false);
            }
        }
        sched_yield();
        leave(&ticket);
    }
}

TEST(processes_killed_at_any_moment_leave_nothing_behind)
{
    enum { KILLS = 300 };
    pid_t pids[PROCESSES];
    unsigned seeds[PROCESSES], n, kills;

    make_zones(1);
    seed = seed_or((unsigned)adm_now());
    for (n = 0; n < PROCESSES; n++) {
        seeds[n] = seed + n;
        pids[n] = start(churn_until_killed, &seeds[n]);
    }
    for (kills = 0; kills < KILLS; kills++) {
        unsigned who = (unsigned)rand_r(&seed) % PROCESSES;

        WAIT_FOR(atomic_load(shared) >= PROCESSES + kills);
        for (n = (unsigned)rand_r(&seed) % 5; n; n--) {
            pause_briefly();
        }
        ((unsigned)rand_r(&seed) % 2 ? kill_noticed : kill_unnoticed)(pids[who]);
        seeds[who] += PROCESSES;
        pids[who] = start(churn_until_killed, &seeds[who]);
    }
    for (n = 0; n < PROCESSES; n++) {
        kill_unnoticed(pids[n]);
    }
    printf("# %u waited\n", atomic_load(&shared[1]));
    ck_assert_uint_gt(atomic_load(&shared[1]), KILLS);
    assert_all_gone(join());
}
