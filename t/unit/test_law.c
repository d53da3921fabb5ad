/* test_law.c - the laws: numbers in, numbers out. */
#include "core/adm_figures.h"
#include "test_support.h"

#define SECOND UINT64_C(1000000)

TEST(a_queue_takes_as_long_as_its_requests_by_its_permits)
{
    ck_assert_uint_eq(law_wait_usec(0, SECOND, 1), SECOND);
    ck_assert_uint_eq(law_wait_usec(9, SECOND, 1), 10 * SECOND);
    ck_assert_uint_eq(law_wait_usec(9, SECOND, 5), 2 * SECOND);
}

TEST(a_zone_without_permits_or_experience_has_an_estimate)
{
    ck_assert_uint_eq(law_wait_usec(4, SECOND, 0), 5 * SECOND);
    ck_assert_uint_eq(law_wait_usec(4, 0, 3), 0);
}

TEST(the_first_request_sets_the_mean)
{
    ck_assert_uint_eq(law_wait_mean(0, 1, 800), 800);
    ck_assert_uint_eq(law_wait_mean(5, 1, 800), 800);
}

TEST(a_later_request_moves_the_mean_by_an_eighth)
{
    ck_assert_uint_eq(law_wait_mean(800, 2, 1600), 900);
    ck_assert_uint_eq(law_wait_mean(800, 2, 0), 700);
}

/* A simulation: requests that take a second after a thousand that took ten. */
TEST(the_mean_follows_a_change_within_thirty_requests)
{
    uint64_t mean = 10 * SECOND;
    uint64_t count;

    for (count = 1001; count <= 1030; count++) {
        mean = law_wait_mean(mean, count, SECOND);
    }
    ck_assert_uint_ge(mean, SECOND);
    ck_assert_uint_lt(mean, SECOND + SECOND / 4);
}

TEST(the_slow_mean_is_the_plain_one_of_the_first_64)
{
    uint64_t mean = 0, count;

    for (count = 1; count <= 64; count++) {
        mean = law_wait_slow_mean(mean, count, (int64_t)count * SECOND);
    }
    ck_assert_uint_ge(mean, 65 * SECOND / 2 - 64);
    ck_assert_uint_le(mean, 65 * SECOND / 2);
    ck_assert_uint_eq(law_wait_slow_mean(64 * SECOND, 1000, 128 * SECOND), 65 * SECOND);
}
