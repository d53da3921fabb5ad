/* test_recycle.c - which children may be replaced, and when. */
#include "recycle/recycle_turns.h"
#include "test_support.h"

static const adm_usec_t second = ADM_USEC_PER_SEC, now = 100 * ADM_USEC_PER_SEC;

/* ---- quotas -------------------------------------------------------------- */

/* Loop test: a run of so many, wherever it begins, has one in each fifth. */
TESTS(quotas_that_follow_each_other_are_spread_evenly, 0, 50)
{
    unsigned fifths[5] = { 0 }, n;
    int skipped;

    for (skipped = 0; skipped < _i; skipped++) {
        recycle_quota(segment, 500, 1499);
    }
    for (n = 0; n < 10; n++) {
        uint32_t quota = recycle_quota(segment, 500, 1499);

        ck_assert_uint_ge(quota, 500);
        ck_assert_uint_le(quota, 1499);
        fifths[(quota - 500) / 200]++;
    }
    for (n = 0; n < 5; n++) {
        ck_assert_uint_ge(fifths[n], 1);
        ck_assert_uint_le(fifths[n], 3);
    }
}

/* ---- turns --------------------------------------------------------------- */

TEST(a_maximum_beyond_the_table_is_the_size_of_the_table)
{
    adm_child_t *child = join();
    unsigned n;

    for (n = 0; n < RECYCLE_TURNS_MAX; n++) {
        ck_assert(recycle_take_turn(child, UINT32_MAX, second));
    }
    ck_assert(!recycle_take_turn(child, UINT32_MAX, second));
}

static int take_turn_and_end(void *at)
{
    NEED(recycle_take_turn(join(), RECYCLE_TURNS_MAX, *(adm_usec_t *)at));
    return 0;
}

static void end_with_a_turn(adm_usec_t at)
{
    ck_assert_int_eq(play(take_turn_and_end, &at), 0);
}

static int take_turn_and_get_killed(void *at)
{
    take_turn_and_end(at);
    raise(SIGKILL);
    return 1;
}

/* Loop test: the child with the turn ends, and another takes its record; or it is killed. */
TESTS(a_new_child_takes_the_place_of_one_that_ended, 0, 2)
{
    adm_usec_t at = now;

    child = join();
    ck_assert_int_eq(play(_i ? take_turn_and_get_killed : take_turn_and_end, &at),
                     _i ? -SIGKILL : 0);
    ck_assert(!recycle_take_turn(child, 1, now + second));
    adm_round(child, adm_now(), true);
    ck_assert(!recycle_take_turn(child, 1, now + second));
    ck_assert(_i || join()->idx == 2);
    recycle_return_turn(child, now + 2 * second);
    ck_assert_uint_eq(recycle_view(segment).away, 0);
    ck_assert_int_eq(recycle_view(segment).away_max_usec, 2 * second);
    ck_assert(recycle_take_turn(child, 1, now + 2 * second));
}

TEST(a_new_child_does_not_take_the_place_of_one_that_still_lives)
{
    adm_child_t *ending = join(), *young = join();

    ck_assert(recycle_take_turn(ending, 1, second));
    recycle_return_turn(young, second);
    ck_assert_uint_eq(recycle_view(segment).away, 1);
}

/* Loop test: the child with the turn has ended, or does not end. */
TESTS(a_turn_without_a_successor_expires, 0, 2)
{
    child = join();
    if (_i) {
        ck_assert(recycle_take_turn(join(), 1, now));
    }
    else {
        end_with_a_turn(now);
    }
    ck_assert(!recycle_take_turn(child, 1, now + 5 * second));
    ck_assert(recycle_take_turn(child, 1, now + 5 * second + ADM_USEC_PER_MSEC));
    ck_assert_uint_eq(recycle_view(segment).away, 1);
}

/* Five seconds for the first one, two more for each other. */
TEST(the_turns_of_many_expire_later)
{
    enum { MANY = 8 };
    unsigned n;

    child = join();
    for (n = 0; n < MANY; n++) {
        end_with_a_turn(now);
    }
    ck_assert(!recycle_take_turn(child, MANY, now + 19 * second));
    ck_assert(recycle_take_turn(child, MANY, now + 19 * second + ADM_USEC_PER_MSEC));
}

TEST(the_place_of_the_one_that_is_away_longest_is_taken_first)
{
    child = join();
    end_with_a_turn(now);
    end_with_a_turn(now + second);
    adm_round(child, adm_now(), true);
    recycle_return_turn(child, now + 2 * second);
    /* Takes the first place of the table again. */
    end_with_a_turn(now + 2 * second);
    adm_round(child, adm_now(), true);
    recycle_return_turn(child, now + 4 * second);
    ck_assert_int_eq(recycle_view(segment).away_max_usec, 3 * second);
    ck_assert_uint_eq(recycle_view(segment).away, 1);
}

TEST(a_turn_taken_after_another_process_read_the_clock_is_valid)
{
    adm_child_t *first = join(), *child = join();

    ck_assert(recycle_take_turn(first, 1, 100 * second));
    ck_assert(!recycle_take_turn(child, 1, 99 * second));
}

TEST(a_turn_can_be_returned_without_one)
{
    recycle_return_turn(join(), second);
    ck_assert_uint_eq(recycle_view(segment).away, 0);
    recycle_count(segment);
    ck_assert_uint_eq(recycle_view(segment).ended, 1);
}

/* ---- concurrent children -------------------------------------------------------- */

enum { CHILDREN = 6, TOGETHER = 2 };

static int try_for_a_turn(void *unused)
{
    adm_child_t *child = join();

    atomic_fetch_add(&shared[0], 1);
    while (atomic_load(&shared[0]) < CHILDREN) {
    }
    if (recycle_take_turn(child, TOGETHER, second)) {
        atomic_fetch_add(&shared[1], 1);
    }
    return 0;
}

TEST(concurrent_children_take_no_more_turns_than_the_maximum)
{
    ck_assert(!recycle_take_turn(join(), 0, second));
    play_together(CHILDREN, try_for_a_turn);
    ck_assert_uint_eq(atomic_load(&shared[1]), TOGETHER);
    ck_assert_uint_eq(recycle_view(segment).away, TOGETHER);
    ck_assert_uint_eq(recycle_view(segment).ended, TOGETHER);
}

/* ---- waiters ------------------------------------------------------------- */

TEST(waiters_of_any_zone_are_seen)
{
    adm_ticket_t waiting;

    zone_with(1, 1);
    stage(0, 1);
    ck_assert(!adm_view_has_waiters(segment));
    ck_assert_int_eq(enter(child, zone, &waiting), ADM_WAITING);
    ck_assert(adm_view_has_waiters(segment));
    leave(&waiting);
    ck_assert(!adm_view_has_waiters(segment));
}
