/* test_outcome.c - one list tells all of what can become of a request. */
#include "test_support.h"

TEST(each_outcome_has_a_name_of_its_own)
{
    adm_outcome_t one, other;

    for (one = 0; one < ADM_OUTCOMES; one++) {
        for (other = 0; other < one; other++) {
            ck_assert_str_ne(adm_outcome_name(one), adm_outcome_name(other));
        }
    }
    ck_assert_str_eq(adm_outcome_name(ADM_FULL), "full");
    ck_assert_str_eq(adm_outcome_name(ADM_WAITED), "queued");
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
