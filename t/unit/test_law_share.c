/* test_law_share.c - how those that want more than there is share it. */
#include "auto/law_share.h"
#include "test_support.h"

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

TESTS(small_demands_are_met_and_the_others_share_the_rest, 0,
      (int)(sizeof(examples) / sizeof(examples[0])))
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
