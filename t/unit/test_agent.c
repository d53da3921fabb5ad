/* test_agent.c - the agent makes the rounds; children make them while there is no agent. */
#include <signal.h>
#include <unistd.h>

#include "agent/agent.h"
#include "core/adm_agent.h"
#include "core/adm_fault.h"
#include "test_support.h"

static adm_usec_t beat(void)
{
    return atomic_load(&segment->header->agent_beat);
}

/* ---- rounds of the agent and of children ------------------------------------------------- */

/* A permit of a dead child; the death is announced, so an agent may reclaim it immediately. */
static void leave_a_permit(void)
{
    kill_noticed(start_holder(1));
}

TEST(children_make_no_rounds_while_the_agent_is_at_work)
{
    adm_usec_t now;

    stage(1, 10);
    leave_a_permit();
    now = adm_now();
    atomic_store(&segment->header->agent_beat, now);
    ck_assert_uint_eq(adm_round_help(child, now), 0);
    ck_assert_uint_eq(adm_round_help(child, now + 3 * ADM_USEC_PER_SEC), 0);
    ck_assert_uint_eq(adm_round_to_show(child, now), 0);
    ck_assert_uint_eq(active_in(zone), 1);

    ck_assert_uint_eq(adm_round_help(child, now + 3 * ADM_USEC_PER_SEC + 1), 1);
    ck_assert_uint_eq(active_in(zone), 0);
}

TEST(a_request_makes_a_round_only_if_no_permit_is_free)
{
    adm_ticket_t first, second;

    stage(2, 10);
    leave_a_permit();
    ck_assert_int_eq(enter(child, zone, &first), ADM_ADMITTED);
    ck_assert_uint_eq(active_in(zone), 2); /* a dead child has one of them */
    ck_assert_int_eq(enter(child, zone, &second), ADM_ADMITTED);
    leave(&first);
    leave(&second);
    ck_assert_uint_eq(active_in(zone), 0);
}

TEST(an_impossible_heartbeat_is_ignored)
{
    adm_usec_t now = adm_now();

    atomic_store(&segment->header->agent_beat, INT64_MAX);
    ck_assert(!adm_agent_is_at_work(segment, now));
    atomic_store(&segment->header->agent_beat, INT64_MIN);
    ck_assert(!adm_agent_is_at_work(segment, now));
    /* A process that read the clock before the agent did. */
    atomic_store(&segment->header->agent_beat, now + ADM_USEC_PER_MSEC);
    ck_assert(adm_agent_is_at_work(segment, now));
    adm_agent_gone(segment);
    ck_assert(!adm_agent_is_at_work(segment, now));
}

TEST(a_new_child_leaves_dead_children_to_the_agent)
{
    zone = zone_with(1, 10);
    leave_a_permit();
    atomic_store(&segment->header->agent_beat, adm_now());
    child = join();
    ck_assert_uint_eq(active_in(zone), 1);
    adm_round(child, adm_now(), true);
    ck_assert_uint_eq(active_in(zone), 0);
}

TEST(a_new_child_takes_the_record_of_a_dead_one_if_no_other_is_free)
{
    make_segment(2, 1, 64);
    zone = zone_with(1, 10);
    leave_a_permit();
    atomic_store(&segment->header->agent_beat, adm_now());
    child = join();
    ck_assert_uint_eq(active_in(zone), 0);
}

TEST(deaths_loads_and_orphans_wake_the_agent)
{
    adm_ticket_t ticket;
    unsigned before;

    stage(1, 10);
    before = adm_agent_wakes(segment);
    leave_a_permit();
    ck_assert_uint_gt(adm_agent_wakes(segment), before); /* a death that the parent announced */
    adm_round(child, adm_now(), true);

    before = adm_agent_wakes(segment);
    set_worker_cap(100); /* a load of the configuration */
    ck_assert_uint_gt(adm_agent_wakes(segment), before);

    before = adm_agent_wakes(segment);
    ck_assert_int_eq(enter(child, zone, &ticket), ADM_ADMITTED);
    leave(&ticket);
    ck_assert_uint_eq(adm_agent_wakes(segment), before); /* needs no agent */
    ck_assert_int_eq(enter(child, zone, &ticket), ADM_ADMITTED);
    adm_program_announce(&ticket, ADM_START_HERE);
    adm_ticket_abandon(&ticket, false, adm_now());
    ck_assert_uint_gt(adm_agent_wakes(segment), before);
}

/* ---- the process ---------------------------------------------------------- */

static agent_task_t tasks[1]; /* none: it only makes the rounds */

static int be_agent(void *unused)
{
    agent_begin(segment);
    return agent_run(segment, getppid(), tasks, pool) == APR_SUCCESS ? 0 : 1;
}

static pid_t start_agent(void)
{
    pid_t agent = start(be_agent, NULL);

    WAIT_FOR(beat() != 0);
    return agent;
}

static int announce_and_stay(void *unused)
{
    adm_ticket_t ticket;

    child = join();
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    adm_program_announce(&ticket, ADM_START_HERE);
    return stay();
}

TEST(the_agent_reclaims_permits_of_dead_children)
{
    pid_t agent;

    zone = zone_with(1, 10);
    agent = start_agent();
    leave_a_permit();
    WAIT_FOR(active_in(zone) == 0);
    kill_unnoticed(start_holder(1));
    WAIT_FOR(active_in(zone) == 0);
    kill_noticed(start_to_stay(announce_and_stay, NULL));
    WAIT_FOR(active_in(zone) == 0); /* no program was started */
    kill(agent, SIGTERM);
    ck_assert_int_eq(end_of(agent), 0);
}

/* Loop test over the signals. */
static const int told[] = { SIGTERM, SIGHUP, SIGINT };

static int be_agent_until_it_beats(void *unused)
{
    adm_fault_arm(ADM_FAULT_agent_beat, 1);
    return be_agent(NULL);
}

/* Children that start meanwhile find an agent, and leave the round to it. */
TEST(an_agent_beats_before_it_reaps)
{
    stage(1, 0);
    kill_noticed(start_holder(1));
    ck_assert_int_eq(play(be_agent_until_it_beats, NULL), -SIGKILL);
    ck_assert_uint_eq(active_in(zone), 1);
}

TESTS(an_agent_that_is_signalled_to_end_clears_its_heartbeat, 0, COUNT(told))
{
    pid_t agent = start_agent();

    kill(agent, SIGUSR1); /* means nothing to it */
    kill(agent, SIGWINCH);
    kill(agent, told[_i]);
    ck_assert_int_eq(end_of(agent), 0);
    ck_assert_int_eq(beat(), 0);
}

static int be_parent_of_agent(void *unused)
{
    start(be_agent, NULL);
    return stay();
}

TEST(an_agent_ends_with_its_parent)
{
    pid_t parent = start(be_parent_of_agent, NULL);

    WAIT_FOR(beat() != 0);
    kill_unnoticed(parent);
    WAIT_FOR(beat() == 0);
}

TEST(an_agent_without_a_record_in_the_segment_does_not_run)
{
    make_segment(2, 1, 64);
    child = join();
    ck_assert_int_eq(play(be_agent, NULL), 1);
    ck_assert_int_eq(beat(), 0);
}
