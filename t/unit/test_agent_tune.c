/* test_agent_tune.c - the agent sets limits that find themselves. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "auto/auto_shm.h"
#include "core/adm_limit.h"
#include "agent/agent.h"
#include "auto/auto_duty.h"
#include "test_support.h"

static auto_zone_t zones[2];
static auto_setup_t setup;

static void add_zone(const char *name, uint32_t min, uint32_t max)
{
    auto_zone_t *zone = &zones[setup.count++];

    *zone = (auto_zone_t){ .name = name, .min = min, .max = max };
    ck_assert_int_eq(adm_segment_configure(segment, name, max, min, 100, &zone->handle),
                     APR_SUCCESS);
}

static void one_zone(uint32_t min, uint32_t max)
{
    setup = (auto_setup_t){ .zones = zones, .root = "", .state_fd = -1 };
    adm_segment_begin_load(segment);
    add_zone("auto", min, max);
    adm_segment_end_load(segment, 1000, ADM_USEC_PER_SEC);
}

static uint32_t limit(void)
{
    return adm_limit_effective(rec_of_zone(zones[0].handle));
}

static int be_agent(void *unused)
{
    const agent_task_t tasks[] = { { &auto_agent_duty, &setup }, { NULL, NULL } };

    agent_begin(segment);
    return agent_run(segment, getppid(), tasks, pool) == APR_SUCCESS ? 0 : 1;
}

static law_tune_shown_t shown(void)
{
    law_tune_shown_t found;

    auto_view(segment, zones[0].handle, adm_now(), &found);
    return found;
}

static void join_queue(adm_ticket_t *ticket)
{
    adm_entry_t entry = { .wait = ADM_WAIT_PARKED, .queue_length = 100 };

    memset(ticket, 0, sizeof(*ticket));
    ck_assert_int_eq(adm_ticket_enter(child, zones[0].handle, &entry, adm_now(), ticket),
                     ADM_WAITING);
}

TEST(the_agent_raises_a_limit_and_lets_waiters_start)
{
    adm_ticket_t first, second, third;
    pid_t agent;

    one_zone(1, 4);
    ck_assert_uint_eq(limit(), 1);
    child = join();
    ck_assert_int_eq(enter(child, zones[0].handle, &first), ADM_ADMITTED);
    join_queue(&second);
    join_queue(&third);
    agent = start(be_agent, NULL);
    WAIT_FOR(shown().reason != LAW_TUNE_NONE);
    leave(&first);
    /* One has ended, no program was seen: it climbs. */
    WAIT_FOR(adm_ticket_is_granted(&second));
    WAIT_FOR(adm_ticket_is_granted(&third));
    ck_assert_uint_ge(limit(), 2);
    leave(&second);
    leave(&third);
    kill(agent, SIGTERM);
    ck_assert_int_eq(end_of(agent), 0);
}
