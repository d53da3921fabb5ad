/* test_weigh.c - requests cost what the agent has learnt of their programs. */
#include <string.h>

#include "adm_auto.h"
#include "adm_weigh.h"
#include "law_tune.h"
#include "test_support.h"

enum { MB = 1024, SMALL = 1, LARGE = 2 };

static adm_zone_t zone;
static adm_child_t *child;
static adm_usec_t now;

static void configure(void)
{
    adm_segment_begin_load(segment);
    ck_assert_int_eq(adm_segment_configure_auto(segment, "auto", 1, 40, 10,
                                                &zone),
                     APR_SUCCESS);
    ck_assert_int_eq(adm_segment_use_flows(segment, zone, true), APR_SUCCESS);
    adm_segment_end_load(segment, 1000, ADM_USEC_PER_SEC);
}

/* A large one takes as much as eight small ones. */
static law_weigh_t two_kinds(void)
{
    law_weigh_t weigh = { .unit_kb = 0 };

    law_weigh_note(&weigh, SMALL, 20 * MB, 5);
    law_weigh_note(&weigh, LARGE, 160 * MB, 5);
    law_weigh_settle(&weigh, 1000 * MB, 40);
    weigh.unit_kb = 20 * MB;
    return weigh;
}

static void learn(uint32_t limit)
{
    const law_weigh_t weigh = two_kinds();

    uses_flows = true;
    make_segment(8, 8, 256);
    configure();
    child = join();
    now = adm_now();
    adm_weigh_write(segment, zone, &weigh);
    ck_assert(adm_auto_set(child, zone, limit, now));
}

static adm_outcome_t enter_kind(uint32_t kind, adm_ticket_t *ticket)
{
    const adm_entry_t entry = { .wait = ADM_WAIT_PARKED,
                                .queue_length = 10,
                                .kind = kind,
                                .cost = adm_weigh_cost(segment, zone, kind) };

    *ticket = (adm_ticket_t){ .idx = 0 };
    return adm_ticket_enter(child, zone, &entry, now, ticket);
}

static uint32_t active(void)
{
    return atomic_load(&rec_of_zone(zone)->active);
}

START_TEST(a_request_takes_what_its_program_was_seen_to_take)
{
    adm_ticket_t small, large, next;

    learn(10);
    ck_assert_int_eq(enter_kind(SMALL, &small), ADM_ADMITTED);
    ck_assert_int_eq(enter_kind(LARGE, &large), ADM_ADMITTED);
    ck_assert_uint_eq(active(), 9);
    ck_assert_int_eq(enter_kind(LARGE, &next), ADM_WAITING);
    leave(&small);
    ck_assert(!adm_ticket_is_granted(&next));
    leave(&large);
    ck_assert(adm_ticket_is_granted(&next));
    leave(&next);
    assert_segment_consistent();
}
END_TEST

/* Whatever is learnt: it runs alone. */
START_TEST(one_that_costs_more_than_the_limit_is_served)
{
    adm_ticket_t small, large;

    learn(3);
    ck_assert_int_eq(enter_kind(SMALL, &small), ADM_ADMITTED);
    ck_assert_int_eq(enter_kind(LARGE, &large), ADM_WAITING);
    leave(&small);
    ck_assert(adm_ticket_is_granted(&large));
    ck_assert_uint_eq(active(), 3);
    leave(&large);
    ck_assert_uint_eq(active(), 0);
    assert_segment_consistent();
}
END_TEST

/* A number, then auto again: its programs may be others. */
START_TEST(what_was_learnt_for_another_limit_is_not_looked_at)
{
    law_weigh_t weigh;

    learn(10);
    ck_assert_uint_eq(adm_weigh_cost(segment, zone, LARGE), 8);
    adm_segment_begin_load(segment);
    ck_assert_int_eq(adm_segment_configure(segment, "auto", 3, 10, &zone),
                     APR_SUCCESS);
    adm_segment_end_load(segment, 1000, ADM_USEC_PER_SEC);
    configure();
    ck_assert_uint_eq(adm_weigh_cost(segment, zone, LARGE), 1);
    adm_weigh_read(segment, zone, &weigh);
    ck_assert_uint_eq(weigh.unit_kb, 0);
    ck_assert_uint_eq(weigh.kinds[law_weigh_set(LARGE)].name, 0);
}
END_TEST

START_TEST(the_next_agent_knows_what_the_last_one_did)
{
    const law_weigh_t before = two_kinds();
    law_weigh_t after;

    learn(10);
    adm_weigh_read(segment, zone, &after);
    ck_assert_mem_eq(&after, &before, sizeof(after));
}
END_TEST

/* Of the only program that runs. */
static adm_auto_program_t seen(adm_ticket_t *ticket)
{
    adm_ticket_rec_t *rec = rec_of_ticket(ticket);
    adm_auto_program_t program;
    adm_auto_work_t work;
    uint32_t count;

    atomic_store(&rec->programs, ADM_PROGRAMS_ONE);
    atomic_store(&rec->program, adm_program_word(rec->arrival, 99));
    ck_assert_int_eq(adm_auto_look(child, zone, now, &work, &program, 1,
                                   &count),
                     APR_SUCCESS);
    ck_assert_uint_eq(count, 1);
    return program;
}

START_TEST(the_agent_sees_kind_and_cost_of_a_program)
{
    adm_ticket_t ticket;
    adm_auto_program_t program;

    learn(10);
    ck_assert_int_eq(enter_kind(LARGE, &ticket), ADM_ADMITTED);
    program = seen(&ticket);
    ck_assert_uint_eq(program.kind, LARGE);
    ck_assert_uint_eq(program.cost, 8);
    atomic_store(&rec_of_ticket(&ticket)->programs, 0);
    leave(&ticket);
    /* The next one with this ticket does not say its kind. */
    ck_assert_int_eq(enter_kind(0, &ticket), ADM_ADMITTED);
    program = seen(&ticket);
    ck_assert_uint_eq(program.kind, 0);
    ck_assert_uint_eq(program.cost, 1);
    atomic_store(&rec_of_ticket(&ticket)->programs, 0);
    leave(&ticket);
    assert_segment_consistent();
}
END_TEST

START_TEST(the_time_of_a_request_counts_for_each_of_its_permits)
{
    adm_ticket_t ticket;
    adm_auto_work_t work;
    uint32_t count;

    learn(10);
    ck_assert_int_eq(enter_kind(LARGE, &ticket), ADM_ADMITTED);
    now += 2 * ADM_USEC_PER_SEC;
    adm_ticket_release(&ticket, now);
    ck_assert_int_eq(adm_auto_look(child, zone, now, &work, NULL, 0, &count),
                     APR_SUCCESS);
    ck_assert_uint_eq(work.served, 1);
    ck_assert_uint_eq(work.service_usec, 16 * ADM_USEC_PER_SEC);
    ck_assert_uint_eq(work.service_square_msec2, 256000000);
}
END_TEST

START_TEST(a_sentence_of_memory_says_permits)
{
    law_tune_t state = { .version = LAW_TUNE_VERSION,
                         .reason = LAW_TUNE_MEMORY,
                         .memory_cap = 45 };
    char text[ADM_AUTO_SENTENCE];
    adm_auto_t shown;

    learn(10);
    state.memory.mean_kb = 20 * MB;
    state.dearest = _i ? 15 : 1;
    adm_auto_write(segment, zone, &state, 0);
    adm_auto_view(segment, zone, now, &shown);
    adm_auto_sentence(&shown, 45, text);
    ck_assert_msg(strncmp(text,
                          _i ? "memory has room for 45 permits of 20 MB"
                             : "memory has room for 45 programs of 20 MB",
                          38)
                      == 0,
                  "%s", text);
}
END_TEST

static void add_stories(TCase *stories)
{
    tcase_add_test(stories, a_request_takes_what_its_program_was_seen_to_take);
    tcase_add_test(stories, one_that_costs_more_than_the_limit_is_served);
    tcase_add_test(stories, what_was_learnt_for_another_limit_is_not_looked_at);
    tcase_add_test(stories, the_next_agent_knows_what_the_last_one_did);
    tcase_add_test(stories, the_agent_sees_kind_and_cost_of_a_program);
    tcase_add_test(stories,
                   the_time_of_a_request_counts_for_each_of_its_permits);
    tcase_add_loop_test(stories, a_sentence_of_memory_says_permits, 0, 2);
}

int main(void)
{
    return run_stories("weigh", add_stories);
}
