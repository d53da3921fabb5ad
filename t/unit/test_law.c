/* test_law.c - the laws: numbers in, numbers out. */
#include "auto/law_share.h"
#include "core/adm_figures.h"
#include "test_support.h"

#define SECOND UINT64_C(1000000)

TEST(a_queue_takes_as_long_as_its_requests_by_its_permits)
{
    ck_assert_uint_eq(law_wait_usec(0, SECOND, 1), SECOND);
    ck_assert_uint_eq(law_wait_usec(9, SECOND, 1), 10 * SECOND);
    ck_assert_uint_eq(law_wait_usec(9, SECOND, 5), 2 * SECOND);
    /* Without permits, and without a mean. */
    ck_assert_uint_eq(law_wait_usec(4, SECOND, 0), 5 * SECOND);
    ck_assert_uint_eq(law_wait_usec(4, 0, 3), 0);
}

TEST(the_first_request_sets_the_mean_and_later_ones_move_it_by_an_eighth)
{
    ck_assert_uint_eq(law_wait_mean(0, 1, 800), 800);
    ck_assert_uint_eq(law_wait_mean(5, 1, 800), 800);
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

/* ---- how those that want more than there is share it ---------------------- */

enum { MOST = 4 };

static const struct {
    uint64_t whole;
    uint64_t wanted[MOST];
    uint64_t parts[MOST];
} examples[] = {
    { 100, { 0, 0, 0, 0 }, { 0, 0, 0, 0 } },
    { 100, { 10, 20, 30, 40 }, { 10, 20, 30, 40 } },
    { 100, { 200, 0, 0, 0 }, { 100, 0, 0, 0 } },
    { 100, { 200, 200, 0, 0 }, { 50, 50, 0, 0 } },
    { 100, { 10, 200, 200, 0 }, { 10, 45, 45, 0 } },
    { 100, { 10, 20, 60, 60 }, { 10, 20, 35, 35 } },
    { 100, { 33, 33, 34, 1000 }, { 25, 25, 25, 25 } },
    { 0, { 10, 20, 0, 0 }, { 0, 0, 0, 0 } },
    { 3, { 2, 2, 2, 2 }, { 0, 0, 0, 0 } },
    { UINT64_MAX, { UINT64_MAX, UINT64_MAX, 0, 0 }, { UINT64_MAX / 2, UINT64_MAX / 2, 0, 0 } },
};

TESTS(small_demands_are_met_and_the_others_share_the_rest, 0, COUNT(examples))
{
    law_share_t shares[MOST] = { { 0 } };
    int n;

    for (n = 0; n < MOST; n++) {
        shares[n].wanted = examples[_i].wanted[n];
    }
    law_share(shares, MOST, examples[_i].whole);
    for (n = 0; n < MOST; n++) {
        ck_assert_msg(shares[n].part == examples[_i].parts[n], "example %d: %d gets %llu", _i, n,
                      (unsigned long long)shares[n].part);
    }
}

TEST(parts_add_up_to_the_whole_at_most)
{
    law_share_t shares[MOST];
    uint64_t random = 1, sum;
    int round, n;

    for (round = 0; round < 10000; round++) {
        sum = 0;
        for (n = 0; n < MOST; n++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            shares[n].wanted = random >> (34 + round % 30);
        }
        law_share(shares, MOST, (random >> 40) % 5000);
        for (n = 0; n < MOST; n++) {
            ck_assert_uint_le(shares[n].part, shares[n].wanted);
            sum += shares[n].part;
        }
        ck_assert_uint_le(sum, (random >> 40) % 5000);
    }
}
