/* test_law_weigh.c - what a kind of program costs. */
#include <string.h>

#include "law_weigh.h"
#include "test_support.h"

enum { MB = 1024, SMALL = 1, LARGE = 2, OTHER = 3 };

static law_weigh_t weigh;

static void note_many(uint32_t name, uint32_t kb, uint32_t now_sec)
{
    int n;

    for (n = 0; n < 50; n++) {
        law_weigh_note(&weigh, name, kb, now_sec);
    }
}

static void know_two(void)
{
    memset(&weigh, 0, sizeof(weigh));
    note_many(SMALL, 20 * MB, 5);
    note_many(LARGE, 300 * MB, 5);
    law_weigh_settle(&weigh, 1000 * MB, 200);
}

START_TEST(who_is_not_known_costs_one)
{
    memset(&weigh, 0, sizeof(weigh));
    law_weigh_settle(&weigh, 1000 * MB, 200);
    ck_assert_uint_eq(law_weigh_cost_of(&weigh, SMALL), 1);
    ck_assert_uint_eq(law_weigh_dearest(&weigh), 1);
    know_two();
    ck_assert_uint_eq(law_weigh_cost_of(&weigh, OTHER), 1);
    ck_assert_uint_eq(law_weigh_cost_of(&weigh, 0), 1);
}
END_TEST

START_TEST(a_kind_costs_as_many_as_the_smallest_fits_into_it)
{
    know_two();
    ck_assert_uint_eq(law_weigh_cost_of(&weigh, SMALL), 1);
    ck_assert_uint_eq(law_weigh_cost_of(&weigh, LARGE), 15);
    ck_assert_uint_eq(law_weigh_dearest(&weigh), 15);
    /* To the nearest. */
    note_many(OTHER, 29 * MB, 5);
    ck_assert_uint_eq(law_weigh_cost_of(&weigh, OTHER), 1);
    note_many(OTHER, 31 * MB, 5);
    ck_assert_uint_eq(law_weigh_cost_of(&weigh, OTHER), 2);
}
END_TEST

START_TEST(nothing_costs_more_than_memory_has_room_for)
{
    know_two();
    law_weigh_settle(&weigh, 200 * MB, 200);
    ck_assert_uint_eq(law_weigh_cost_of(&weigh, LARGE), 10);
    ck_assert_uint_eq(law_weigh_dearest(&weigh), 10);
    law_weigh_settle(&weigh, 0, 200);
    ck_assert_uint_eq(law_weigh_cost_of(&weigh, LARGE), 1);
}
END_TEST

/* With 10 permits for 1000 MB each stands for 100 MB. */
START_TEST(where_each_may_have_much_small_differences_count_nothing)
{
    know_two();
    law_weigh_settle(&weigh, 1000 * MB, 10);
    ck_assert_uint_eq(law_weigh_cost_of(&weigh, SMALL), 1);
    ck_assert_uint_eq(law_weigh_cost_of(&weigh, LARGE), 3);
}
END_TEST

START_TEST(what_a_permit_stands_for_stays_while_it_is_nearly_right)
{
    know_two();
    note_many(SMALL, 24 * MB, 5);
    law_weigh_settle(&weigh, 1000 * MB, 200);
    ck_assert_uint_eq(law_weigh_cost_of(&weigh, LARGE), 15);
    note_many(SMALL, 30 * MB, 5);
    law_weigh_settle(&weigh, 1000 * MB, 200);
    ck_assert_uint_eq(law_weigh_cost_of(&weigh, LARGE), 10);
}
END_TEST

START_TEST(a_kind_that_is_not_seen_among_others_counts_no_more)
{
    know_two();
    note_many(LARGE, 300 * MB, 604);
    law_weigh_settle(&weigh, 1000 * MB, 200);
    ck_assert_uint_eq(law_weigh_cost_of(&weigh, LARGE), 15);
    note_many(LARGE, 300 * MB, 605);
    law_weigh_settle(&weigh, 1000 * MB, 200);
    ck_assert_uint_eq(law_weigh_cost_of(&weigh, LARGE), 1);
    /* The dear ones keep their cost, but set no minimum. */
    know_two();
    note_many(SMALL, 20 * MB, 605);
    law_weigh_settle(&weigh, 1000 * MB, 200);
    ck_assert_uint_eq(law_weigh_cost_of(&weigh, LARGE), 15);
    ck_assert_uint_eq(law_weigh_dearest(&weigh), 1);
}
END_TEST

/* They fall on one set. */
START_TEST(the_heavy_ones_are_remembered)
{
    uint32_t n, kept = 0;

    know_two();
    for (n = 1; n <= LAW_WEIGH_WAYS; n++) {
        note_many(LARGE + n * LAW_WEIGH_SETS, (300 + n) * MB, 5);
    }
    law_weigh_settle(&weigh, 1000 * MB, 200);
    ck_assert_uint_eq(law_weigh_cost_of(&weigh, LARGE), 1);
    for (n = 1; n <= LAW_WEIGH_WAYS; n++) {
        kept += law_weigh_cost_of(&weigh, LARGE + n * LAW_WEIGH_SETS) == 15;
    }
    ck_assert_uint_eq(kept, LAW_WEIGH_WAYS);
    note_many(LARGE, 40 * MB, 5);
    ck_assert_uint_eq(law_weigh_cost_of(&weigh, LARGE), 1);
    /* One that counts no more makes room. */
    note_many(LARGE, 40 * MB, 700);
    ck_assert_uint_eq(law_weigh_cost_of(&weigh, LARGE), 2);
}
END_TEST

START_TEST(any_bytes_are_survived)
{
    unsigned char *bytes = (unsigned char *)&weigh;
    uint32_t seed = (uint32_t)_i, cost, n;

    for (n = 0; n < sizeof(weigh); n++) {
        seed = seed * 1664525 + 1013904223;
        bytes[n] = _i == 0 ? 0xff : (unsigned char)(seed >> 24);
    }
    law_weigh_note(&weigh, seed, seed, 7);
    law_weigh_settle(&weigh, _i % 2 ? UINT64_MAX : 1000 * MB, 200);
    for (n = 0; n < 1000; n++) {
        cost = law_weigh_cost_of(&weigh, n);
        ck_assert_uint_ge(cost, 1);
        ck_assert_uint_le(cost, 200);
    }
    ck_assert_uint_le(law_weigh_dearest(&weigh), 200);
}
END_TEST

static void add_stories(TCase *stories)
{
    tcase_add_test(stories, who_is_not_known_costs_one);
    tcase_add_test(stories, a_kind_costs_as_many_as_the_smallest_fits_into_it);
    tcase_add_test(stories, nothing_costs_more_than_memory_has_room_for);
    tcase_add_test(stories,
                   where_each_may_have_much_small_differences_count_nothing);
    tcase_add_test(stories,
                   what_a_permit_stands_for_stays_while_it_is_nearly_right);
    tcase_add_test(stories,
                   a_kind_that_is_not_seen_among_others_counts_no_more);
    tcase_add_test(stories, the_heavy_ones_are_remembered);
    tcase_add_loop_test(stories, any_bytes_are_survived, 0, 50);
}

int main(void)
{
    return run_stories("law_weigh", add_stories);
}
