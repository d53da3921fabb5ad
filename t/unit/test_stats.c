/* test_stats.c - the figures an administrator sees. */
#include "core/adm_figures.h"
#include "test_story.h"

/* ---- durations ----------------------------------------------------------- */

static unsigned bucket_of(adm_usec_t duration)
{
    adm_durations_t durations = { 0 };
    unsigned bucket = 0;

    adm_figures_add_duration(&durations, duration);
    while (bucket < ADM_HISTOGRAM_BUCKETS && durations.bucket[bucket] == 0) {
        bucket++;
    }
    return bucket;
}

TEST(a_bucket_counts_durations_below_a_power_of_two)
{
    unsigned n;

    for (n = 1; n < ADM_HISTOGRAM_BUCKETS; n++) {
        ck_assert_uint_eq(bucket_of((ADM_USEC_PER_MSEC << (n - 1)) - 1), n - 1);
        ck_assert_uint_eq(bucket_of(ADM_USEC_PER_MSEC << (n - 1)), n);
    }
    ck_assert_uint_eq(bucket_of(INT64_MAX), ADM_HISTOGRAM_BUCKETS - 1);
    ck_assert_uint_eq(bucket_of(0), 0);
    ck_assert_uint_eq(bucket_of(-5), 0);
}

TEST(durations_have_a_count_a_sum_and_a_maximum)
{
    adm_durations_t durations = { 0 };

    adm_figures_add_duration(&durations, 30);
    adm_figures_add_duration(&durations, 50);
    adm_figures_add_duration(&durations, 20);
    adm_figures_add_duration(&durations, -5); /* counts as 0 */
    ck_assert_uint_eq(durations.count, 4);
    ck_assert_uint_eq(durations.sum_usec, 100);
    ck_assert_uint_eq(durations.max_usec, 50);
}

/* ---- outcomes ------------------------------------------------------------ */

TEST(each_outcome_has_a_name_of_its_own)
{
    adm_outcome_t one, other;

    for (one = 0; one < ADM_OUTCOMES; one++) {
        for (other = 0; other < one; other++) {
            ck_assert_str_ne(adm_outcome_name(one), adm_outcome_name(other));
        }
    }
}

TEST(a_rejection_has_a_reason_for_the_log)
{
    adm_outcome_t outcome;

    for (outcome = 0; outcome < ADM_OUTCOMES; outcome++) {
        ck_assert_int_eq(adm_outcome_reason(outcome) != NULL,
                         adm_outcome_action(outcome) == ADM_REJECT);
    }
}

TEST(the_sums_follow_from_the_list)
{
    adm_figures_t figures = { 0 };

    figures.outcomes[ADM_ADMITTED] = 1;
    figures.outcomes[ADM_WAITED] = 10;
    figures.outcomes[ADM_DRY_FULL] = 100;
    figures.outcomes[ADM_TIMEOUT] = 1000;
    figures.outcomes[ADM_GONE] = 10000;
    ck_assert_uint_eq(adm_figures_admitted(&figures), 111);
    ck_assert_uint_eq(adm_figures_rejected(&figures), 1100);
}

/* ---- what programs took ---------------------------------------------------- */

TEST(a_percentile_lies_in_its_bucket_and_below_the_largest)
{
    adm_figures_t figures = { 0 };
    const adm_account_t *account = &figures.account;
    unsigned n;

    ck_assert_uint_eq(adm_spread_percentile(&account->peak_kb, 95), 0);
    for (n = 0; n < 90; n++) {
        adm_figures_account(&figures, 5000, 2 * ADM_USEC_PER_SEC, 0);
    }
    for (n = 0; n < 10; n++) {
        adm_figures_account(&figures, 90000, 5 * ADM_USEC_PER_SEC, 7);
    }
    ck_assert_uint_eq(account->count, 100);
    ck_assert_uint_eq(account->peak_kb.sum, 90 * 5000 + 10 * 90000);
    ck_assert_uint_eq(account->processor_msec.max, 5000);
    ck_assert_uint_eq(adm_spread_percentile(&account->peak_kb, 45), 4096 + 4096 * 45 / 90);
    ck_assert_uint_ge(adm_spread_percentile(&account->peak_kb, 95), 65536);
    ck_assert_uint_le(adm_spread_percentile(&account->peak_kb, 95), 90000);
    ck_assert_uint_eq(adm_spread_percentile(&account->peak_kb, 100), 90000);
    ck_assert_uint_eq(adm_spread_percentile(&account->faults, 50), 0);
}

TEST(numbers_beyond_the_last_bucket_are_the_largest)
{
    adm_figures_t figures = { 0 };

    adm_figures_account(&figures, UINT64_MAX, 0, UINT64_MAX);
    ck_assert_uint_eq(adm_spread_percentile(&figures.account.peak_kb, 95), UINT64_MAX);
    ck_assert_uint_eq(adm_spread_percentile(&figures.account.processor_msec, 95), 0);
}

STORY(a_zones_figures_match_its_requests,
      "zone 1 2; A in; wait 1ms; B waits; wait 1ms; C waits; wait 1ms; D full; wait 1ms;"
      "limit-shown 1; queue-shown 2; active 1; waiting 2; queued-max 2; oldest-usec 3000;"
      "admitted 1; queued 0; full 1");

STORY(waiting_and_service_are_timed,
      "zone 1 2; A in; wait 1ms; B waits; wait 6500us; A leaves; wait 500us; B begins; wait 1ms;"
      "B leaves; wait 10ms; waited 1; waited-usec 7000; served 2; served-usec 8500;"
      "longest-usec 7500; admitted 2; queued 1; oldest-usec 0");

/* ---- the server ---------------------------------------------------------- */

STORY(the_servers_figures_are_those_of_all_children,
      "zone 2 10; workers 0; unlimited 0; children 2; cap 7; runs A in; child 2 runs B in;"
      "blocks C waits; D parked; child 2 blocks E waits; child 2 F parked; workers 4; blocked 2;"
      "parked 2; worker-cap 7");

TEST(requests_without_a_limit_are_counted)
{
    tell("zone 1 1");
    adm_segment_count_unlimited(segment);
    tell("unlimited 1");
}
