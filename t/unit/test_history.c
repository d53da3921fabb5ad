/* test_history.c - a zone's last ten minutes. */
#include "test_story.h"

#define TEN "zone 10 10; clock 1000s; "

TEST(a_zone_without_visitors_has_an_empty_history)
{
    unsigned n;

    tell("zone 10 10; clock 5s");
    for (n = 0; n < ADM_HISTORY_SECONDS; n++) {
        tell("was active %u:0; was queued %u:0; was rejected %u:0", n, n, n);
    }
}

STORY(a_second_stores_its_peak,
      TEN "AB in; wait 1us; A leaves; wait 1us; C in; wait 1us; BC leaves; clock 1001s;"
          "was active 0:0 1:2 2:0");

STORY(seconds_between_two_changes_are_as_the_one_before,
      TEN "A in; wait 5s; B in; wait 1s; was active 0:2 1:2 2:1 6:1 7:0");

STORY(what_was_before_the_window_lasts_into_it, TEN "A in; wait 4000s; was active 0:1 599:1");

/* Loop test: the next change comes so many seconds after ten minutes, where
 * the ring of seconds has come round. */
TESTS(a_change_ten_minutes_later_does_not_change_the_past, -2, 3)
{
    tell(TEN "clock 990s; A in; clock 1000s; B in; wait %ds; C in; wait 10s",
         ADM_HISTORY_SECONDS + _i);
    tell("was active 0:3 10:3 11:2 500:2");
}

STORY(the_history_has_the_queue_and_the_rejections,
      "zone 1 1; clock 1000s; A in; wait 1s; B waits; wait 1s; C full; wait 1s;"
      "was queued 0:1 2:1 3:0; was rejected 0:1 1:1 2:0");

/* Every second of ten minutes, twice: the ring comes round. */
TEST(a_zone_that_changes_every_second_remembers_each)
{
    unsigned n;

    tell("zone 10 10");
    for (n = 0; n < 2 * ADM_HISTORY_SECONDS; n++) {
        tell("clock %us; %s", 1000 + n, n % 2 ? "A leaves" : "A in; A leaves");
    }
    tell("clock %us", 1000 + n);
    for (n = 0; n < ADM_HISTORY_SECONDS; n++) {
        tell("was active %u:%d", n, n >= 1 && n % 2 == 0);
    }
}

TEST(more_are_rejected_in_a_second_than_16_bits_count)
{
    adm_ticket_t rejected;
    unsigned n;

    tell("zone 1 0; clock 1000s; A in; wait 1s");
    for (n = 0; n < 70000; n++) {
        enter_as(child, zone, WAITS, story_now, &rejected);
    }
    tell("wait 2s; B full; was rejected 0:70001 1:70000 2:70000 3:0");
}

STORY(an_older_clock_reading_is_counted_to_the_newest_second,
      TEN "A in; clock 998s; B in; clock 1000s; was active 0:2 2:0");

STORY(a_clock_that_has_just_begun_has_a_past,
      "zone 10 10; clock 0s; A in; clock 2s; was active 2:1 3:0");

TEST(an_unknown_zone_has_no_history)
{
    static adm_history_t history;
    adm_zone_stats_t figures;

    zone.idx = 0;
    ck_assert_int_eq(adm_view_zone(join(), zone, adm_now(), &figures, &history), APR_EINVAL);
}

/* ---- limits --------------------------------------------------------------- */

STORY(a_limit_without_changes_fills_the_whole_history, TEN "was limit 0:10 599:10");

STORY(ordered_limits_are_remembered_and_pause_is_none,
      TEN "order limit 4; wait 10s; order pause; wait 10s; order limit 7; order open; wait 10s;"
          "was limit 0:7 10:7 11:0 20:0 21:4 30:4 31:10 599:10; clock 5000s; was limit 599:7");

/* The second load is so long ago that it is forgotten, and no change of now. */
STORY(a_configured_limit_changes_at_the_load_not_at_the_sample,
      "zone 10 10; limit 3; wait 20s; was limit 0:3 75:3 85:10; wait 10s; order limit 5;"
      "wait 670s; was limit 0:5 599:5");

STORY(a_load_that_is_long_ago_is_no_change_of_now,
      "zone 8 10; limit 9; wait 700s; was limit 0:9 599:9");
