/* test_auto.c - automatic limits while the agent that sets them is silent. */
#include "core/adm_account.h"
#include "core/adm_agent.h"
#include "auto/auto_shm.h"
#include "test_support.h"

static adm_zone_t fixed;
static adm_usec_t begun;

/* The agent has set 20, and recorded how many programs fit safely. */
static void find_20(uint32_t safe)
{
    law_tune_t state = { .version = LAW_TUNE_VERSION };

    adm_segment_begin_load(segment);
    ck_assert_int_eq(adm_segment_configure(segment, "fixed", 30, 0, 10, &fixed), APR_SUCCESS);
    ck_assert_int_eq(adm_segment_configure(segment, "auto", 40, 1, 10, &zone), APR_SUCCESS);
    adm_segment_end_load(segment, 1000, ADM_USEC_PER_SEC);
    child = join();
    begun = adm_now();
    auto_write(segment, zone, &state, safe, begun);
    ck_assert(auto_set(child, zone, 20, begun));
    atomic_store(&segment->header->agent_beat, begun);
}

/* What children do periodically, at this time after the last report of the agent. */
static uint32_t limit_after(adm_usec_t usec)
{
    adm_round_help(child, begun + usec);
    return adm_limit_effective(rec_of_zone(zone));
}

TEST(a_limit_falls_to_the_safe_one_after_three_seconds)
{
    find_20(4);
    ck_assert_uint_eq(limit_after(0), 20);
    ck_assert_uint_eq(limit_after(3 * ADM_USEC_PER_SEC), 20);
    ck_assert_uint_eq(limit_after(3 * ADM_USEC_PER_SEC + 1), 4);
    ck_assert_uint_eq(stats_of(child, zone).limit, 4);
    ck_assert_uint_eq(adm_limit_effective(rec_of_zone(fixed)), 30);
}

static const char *reason_after(adm_usec_t usec)
{
    law_tune_shown_t shown;

    auto_view(segment, zone, begun + usec, &shown);
    return law_tune_field_reason(shown.reason);
}

/* An agent sleeps while no request comes; this is not silence. */
TEST(silence_is_shown_as_the_reason)
{
    find_20(4);
    ck_assert_str_eq(reason_after(3 * ADM_USEC_PER_SEC), "none");
    ck_assert_str_eq(reason_after(3 * ADM_USEC_PER_SEC + 1), "silent");
    ck_assert(auto_wake_on_request(segment, &zone, 1, begun));
    ck_assert_str_eq(reason_after(60 * ADM_USEC_PER_SEC), "none");
}

/* The first request of an idle zone wakes the agent, and only the first. */
TEST(a_request_wakes_a_sleeping_agent_once)
{
    adm_ticket_t tickets[2];
    unsigned wakes;

    find_20(4);
    ck_assert(auto_wake_on_request(segment, &zone, 1, begun));
    wakes = adm_agent_wakes(segment);
    enter_many(child, fixed, tickets, 1, ADM_ADMITTED);
    ck_assert_uint_eq(adm_agent_wakes(segment), wakes);
    leave(&tickets[0]);
    enter_many(child, zone, tickets, 2, ADM_ADMITTED);
    ck_assert_uint_eq(adm_agent_wakes(segment), wakes + 1);
    leave(&tickets[0]);
    ck_assert(!auto_wake_on_request(segment, &zone, 1, begun)); /* one still runs */
    ck_assert_uint_eq(atomic_load(&rec_of_zone(zone)->watch), 0);
    leave(&tickets[1]);
    ck_assert(auto_wake_on_request(segment, &zone, 1, begun));
    ck_assert_uint_eq(adm_agent_wakes(segment), wakes + 1);
}

TEST(an_agent_that_has_ended_has_three_seconds_as_well)
{
    find_20(4);
    adm_agent_gone(segment);
    ck_assert_uint_eq(limit_after(ADM_USEC_PER_SEC), 20);
    ck_assert_uint_eq(limit_after(4 * ADM_USEC_PER_SEC), 4);
}

TEST(an_agent_that_continues_sets_the_limit_again)
{
    adm_usec_t later = 10 * ADM_USEC_PER_SEC;

    find_20(4);
    ck_assert_uint_eq(limit_after(later), 4);
    ck_assert(auto_set(child, zone, 18, begun + later));
    adm_limit_renew_term(rec_of_zone(zone), 4, begun + later);
    atomic_store(&segment->header->agent_beat, begun + later);
    ck_assert_uint_eq(limit_after(later + 2 * ADM_USEC_PER_SEC), 18);
}

/* Loop test: more programs fit, or their size is unknown. */
TESTS(a_limit_that_can_fit_stays, 0, 2)
{
    find_20(_i ? 0 : 35);
    ck_assert_uint_eq(limit_after(4 * ADM_USEC_PER_SEC), 20);
}

/* An attacker in a child can write the time: then the limit only falls. */
TESTS(an_impossible_time_of_a_sample_is_ignored, 0, 2)
{
    find_20(4);
    adm_agent_gone(segment);
    atomic_store(&rec_of_zone(zone)->measured_until, _i ? INT64_MAX : INT64_MIN);
    ck_assert_uint_eq(limit_after(ADM_USEC_PER_SEC), 4);
}

TEST(a_request_that_costs_eight_permits_counts_as_eight)
{
    const adm_proc_usage_t usage = { .size_kb = 800, .peak_kb = 1600 };
    const adm_entry_t entry = { .wait = ADM_WAIT_PARKED, .cost = 8 };
    adm_ticket_t ticket = { .idx = 0 };
    adm_ticket_rec_t *rec;
    auto_work_t work;
    uint32_t sizes[9], count;

    uses_flows = true;
    make_segment(8, 8, 256);
    stage(10, 10);
    begun = adm_now();
    ck_assert_int_eq(adm_ticket_enter(child, zone, &entry, begun, &ticket), ADM_ADMITTED);
    rec = rec_of_ticket(&ticket);
    atomic_store(&rec->programs, ADM_PROGRAMS_ONE);
    atomic_store(&rec->program, adm_program_word(rec->arrival, 99));
    adm_account_note(segment, ticket.idx, atomic_load(&rec->program), &usage);
    ck_assert_int_eq(auto_sample(child, zone, begun, &work, sizes, 9, &count), APR_SUCCESS);
    ck_assert_uint_eq(count, 8);
    ck_assert_uint_eq(sizes[7], 100);
    ck_assert_uint_eq(work.programs.count, 0);
    begun += 2 * ADM_USEC_PER_SEC;
    adm_ticket_release(&ticket, begun);
    ck_assert_int_eq(auto_sample(child, zone, begun, &work, sizes, 9, &count), APR_SUCCESS);
    ck_assert_uint_eq(count, 0);
    ck_assert_uint_eq(work.programs.count, 8);
    ck_assert_uint_eq(work.programs.peak_kb, 1600);
    ck_assert_uint_eq(work.peak_kb, 200);
    ck_assert_uint_eq(work.served, 1);
    ck_assert_uint_eq(work.service_usec, 16 * ADM_USEC_PER_SEC);
    ck_assert_uint_eq(work.service_square_msec2, 256000000);
}
