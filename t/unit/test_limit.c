/* test_limit.c - the effective limit is the lowest of all sources. */
#include "core/adm_hand_over.h"
#include "core/adm_limit.h"
#include "test_story.h"

static void say(enum adm_limit_source_t source, uint32_t limit)
{
    adm_limit_set(rec_of_zone(zone), source, limit);
}

static void assert_limit(uint32_t expected)
{
    ck_assert_uint_eq(adm_limit_effective(rec_of_zone(zone)), expected);
    ck_assert_uint_eq(stats_of(child, zone).limit, expected);
}

TEST(limits_of_other_sources_are_flagged)
{
    stage(5, 10);
    ck_assert_uint_eq(atomic_load(&rec_of_zone(zone)->has_other_limits), 0);
    zone = zone_with(6, 10);
    ck_assert_uint_eq(atomic_load(&rec_of_zone(zone)->has_other_limits), 0);
    is_spoilt = true; /* no server has promised it */
    say(ADM_LIMIT_SHARE, 2);
    ck_assert_uint_eq(atomic_load(&rec_of_zone(zone)->has_other_limits), 1);
    assert_limit(2);
}

TEST(the_lowest_source_applies)
{
    stage(5, 10);
    assert_limit(5);
    say(ADM_LIMIT_AUTO, 8);
    assert_limit(5);
    say(ADM_LIMIT_AUTO, 3);
    assert_limit(3);
    say(ADM_LIMIT_SHARE, 2);
    assert_limit(2);
    say(ADM_LIMIT_SHARE, ADM_LIMIT_NONE);
    say(ADM_LIMIT_AUTO, ADM_LIMIT_NONE);
    assert_limit(5);
}

TEST(a_zone_in_the_place_of_another_inherits_no_limit)
{
    unsigned loads;

    make_segment(1, 8, 256);
    zone = zone_called("first", 5, 10);
    child = join();
    say(ADM_LIMIT_OVERRIDE, 2);
    zone_called("first", 5, 10);
    assert_limit(2);
    for (loads = 0; loads < 4; loads++) {
        set_worker_cap(100);
    }
    zone = zone_called("second", 4, 10);
    assert_limit(4);
}

STORY(a_raised_limit_lets_no_request_overtake_the_queue,
      "zone 0 10; A waits; limit 1; B waits; has A");

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
