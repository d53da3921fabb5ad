/* test_limit.c - the effective limit is the lowest of all sources, or the administrator's. */
#include "core/adm_hand_over.h"
#include "core/adm_limit.h"
#include "test_story.h"

TEST(the_lowest_source_applies)
{
    static const struct {
        enum adm_limit_source_t source;
        uint32_t limit, lowest;
    } steps[] = { { ADM_LIMIT_CONFIGURED, 5, 5 },
                  { ADM_LIMIT_AUTO, 8, 5 },
                  { ADM_LIMIT_AUTO, 3, 3 },
                  { ADM_LIMIT_SHARE, 2, 2 },
                  { ADM_LIMIT_SHARE, ADM_LIMIT_NONE, 3 },
                  { ADM_LIMIT_AUTO, ADM_LIMIT_NONE, 5 } };
    unsigned n;

    stage(5, 10);
    for (n = 0; n < COUNT(steps); n++) {
        adm_limit_set(rec_of_zone(zone), steps[n].source, steps[n].limit);
        ck_assert_uint_eq(adm_limit_effective(rec_of_zone(zone)), steps[n].lowest);
        ck_assert_uint_eq(stats_of(child, zone).limit, steps[n].lowest);
    }
}

/* The limit is raised without notice, so only a round applies it. In the last one, the time
 * of the next round is impossible. */
TEST(a_round_to_show_figures_is_made_once_in_100_ms)
{
    static const struct {
        uint32_t limit, after_msec, is_seen;
    } rounds[] = { { 1, 0, 1 }, { 2, 99, 0 }, { 2, 1, 1 }, { 3, 100, 1 } };
    unsigned n, seen = 0;

    tell("zone 0 10; ABC waits; round");
    for (n = 0; n < 4; n++) {
        adm_limit_set(rec_of_zone(zone), ADM_LIMIT_CONFIGURED, rounds[n].limit);
        story_now += rounds[n].after_msec * ADM_USEC_PER_MSEC;
        if (n == 3) {
            atomic_store(&segment->header->next_shown_round, story_now + 3600 * ADM_USEC_PER_SEC);
        }
        adm_round_to_show(child, story_now);
        seen += rounds[n].is_seen;
        ck_assert_uint_eq(active_in(zone), seen);
    }
}

/* More than one critical section may hand over. */
TEST(a_limit_raised_by_hundreds_lets_in_hundreds)
{
    enum { WAITING = 5 * ADM_WAKES_MAX };
    adm_zone_t zone = zone_called("one", 0, 2 * WAITING);
    adm_child_t *child = join();
    adm_ticket_t waiting[WAITING];
    unsigned n;

    enter_many(child, zone, waiting, WAITING, ADM_WAITING);
    zone_called("one", WAITING - 1, 2 * WAITING);
    adm_round(child, adm_now(), false);
    for (n = 0; n < WAITING - 1; n++) {
        ck_assert(adm_ticket_is_granted(&waiting[n]));
    }
    ck_assert(!adm_ticket_is_granted(&waiting[WAITING - 1]));
}

/* ---- overrides of an administrator ------------------------------------------- */

/* Each "order" also compares the values that are shown with the ones that the override returns. */
STORY(a_raised_limit_is_handed_out_immediately,
      "zone 1 3; A in; BCD waits; order limit 3; active 3; waiting 1; has ABC; limit-shown 3;"
      "limit-configured 1; overridden 1");

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
      "limit-shown 3; overridden 0; order limit 4; length 4; limit-shown 3; queue-shown 4");

STORY(the_configured_limit_can_be_restored,
      "zone 2 3; order limit 4; order limit none; limit-shown 2; overridden 0");

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
