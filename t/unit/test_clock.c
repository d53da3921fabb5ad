/* test_clock.c - a periodic duty is due once for all processes that ask. */
#include "test_support.h"

static const adm_usec_t hour = 3600 * ADM_USEC_PER_SEC;

/* Of an interval of an hour; two questions, in half hours. */
static const struct {
    adm_usec_t next, first, second;
    bool is_due, is_due_again;
} questions[] = {
    { 0, 10, 10, true, false }, /* a duty never done is due, once */
    { 0, 10, 12, true, true },
    { 0, 10, 9, true, false },          /* a clock that was read earlier */
    { INT64_MAX, 10, 10, true, false }, /* an impossible time */
};

TESTS(a_duty_is_due_once_per_interval, 0, 4)
{
    _Atomic adm_usec_t next = questions[_i].next;

    ck_assert_int_eq(adm_due(&next, questions[_i].first * hour / 2, hour), questions[_i].is_due);
    ck_assert_int_eq(adm_due(&next, questions[_i].second * hour / 2 - 1, hour), false);
    ck_assert_int_eq(adm_due(&next, questions[_i].second * hour / 2, hour),
                     questions[_i].is_due_again);
}
