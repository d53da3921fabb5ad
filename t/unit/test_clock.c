/* test_clock.c - what is due, once for all who ask. */
#include "core/adm_clock.h"
#include "test_support.h"

static const adm_usec_t hour = 3600 * ADM_USEC_PER_SEC;

TEST(what_was_never_done_is_due)
{
    _Atomic adm_usec_t next = 0;

    ck_assert(adm_due(&next, adm_now(), hour));
}

TEST(it_is_due_once_in_an_interval)
{
    _Atomic adm_usec_t next = 0;

    ck_assert(adm_due(&next, 5 * hour, hour));
    ck_assert(!adm_due(&next, 5 * hour, hour));
    ck_assert(!adm_due(&next, 6 * hour - 1, hour));
    ck_assert(adm_due(&next, 6 * hour, hour));
}

TEST(a_clock_that_was_read_earlier_does_not_make_it_due)
{
    _Atomic adm_usec_t next = 0;

    ck_assert(adm_due(&next, 5 * hour, hour));
    ck_assert(!adm_due(&next, 5 * hour - hour / 2, hour));
}

TEST(an_impossible_time_is_due)
{
    _Atomic adm_usec_t next = INT64_MAX;

    ck_assert(adm_due(&next, 5 * hour, hour));
    ck_assert(!adm_due(&next, 5 * hour, hour));
}
