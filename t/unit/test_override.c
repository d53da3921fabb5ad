/* test_override.c - overrides of an administrator. Each "order" also compares the values
 * that are shown with the ones that the override returns. */
#include "test_story.h"

STORY(a_raised_limit_is_handed_out_immediately,
      "zone 1 3; A in; BCD waits; order limit 3; active 3; waiting 1; has ABC; limit-shown 3;"
      "limit-configured 1; overridden 1");

STORY(a_limit_below_what_runs_takes_nothing_away,
      "zone 3 3; ABC in; order limit 1; active 3; D waits; AB leaves; has C; C leaves; has D");

STORY(the_queue_has_the_length_set_last,
      "zone 1 3; A in; order queue 1; B waits; C full; queue-shown 1; order queue none;"
      "queue-shown 3; CD waits; E full; overridden 0; order queue 0; E full");

STORY(a_paused_zone_gives_no_permit_until_it_is_open,
      "zone 2 3; order pause; ABC waits; order open; has AB");

STORY(a_drained_zone_serves_waiting_and_rejects_new_requests,
      "zone 1 3; A in; B waits; order drain; C drain; tells C 30s; A leaves; has B; B leaves;"
      "C drain; drain 2; order open; C in");

STORY(an_edited_number_ends_an_override_and_no_other_load_does,
      "zone 2 3; order limit 4; order drain; limit 2; limit-shown 4; A drain; limit 3;"
      "limit-shown 3; overridden 0; order limit 4; length 4; limit-shown 3");

STORY(the_configured_limit_can_be_restored,
      "zone 2 3; order limit 4; order limit none; limit-shown 2; overridden 0");

TEST(a_removed_zone_accepts_no_overrides)
{
    adm_override_t before, after, wanted = { 4, ADM_OVERRIDE_KEEP, ADM_OVERRIDE_KEEP };
    adm_zone_t gone;

    tell("zone 2 3");
    gone = zone;
    gone.incarnation++;
    ck_assert_int_eq(adm_override_set(child, gone, &wanted, story_now, &before, &after),
                     ADM_ZONE_RETIRED);
    tell("limit-shown 2");
}

TEST(an_unknown_mode_of_a_corrupt_segment_is_open)
{
    adm_ticket_t ticket;

    tell("zone 2 3; order drain");
    is_spoilt = true;
    atomic_store(&rec_of_zone(zone)->mode, 77);
    ck_assert_int_eq(stats_of(child, zone).mode, ADM_MODE_OPEN);
    ck_assert_int_eq(enter(child, zone, &ticket), ADM_ADMITTED);
    ck_assert_ptr_nonnull(adm_check(segment));
}
