/* test_limit.c - how many may run: the least of what the sources say. */
#include "core/adm_limit.h"
#include "test_support.h"

static void make_zone(uint32_t limit)
{
    stage(limit, 10);
}

static void say(enum adm_limit_source_t source, uint32_t limit)
{
    adm_limit_set(rec_of_zone(zone), source, limit);
}

static void assert_limit(uint32_t expected)
{
    ck_assert_uint_eq(adm_limit_effective(rec_of_zone(zone)), expected);
    ck_assert_uint_eq(stats_of(child, zone).limit, expected);
}

TEST(the_configured_limit_applies_without_an_override)
{
    make_zone(5);
    assert_limit(5);
    make_zone(0);
    assert_limit(0);
}

TEST(where_only_the_configuration_has_spoken_one_load_tells)
{
    make_zone(5);
    ck_assert_uint_eq(atomic_load(&rec_of_zone(zone)->has_other_limits), 0);
    zone = zone_with(6, 10);
    ck_assert_uint_eq(atomic_load(&rec_of_zone(zone)->has_other_limits), 0);
    is_spoilt = true; /* nobody has promised it */
    say(ADM_LIMIT_SHARE, 2);
    ck_assert_uint_eq(atomic_load(&rec_of_zone(zone)->has_other_limits), 1);
    assert_limit(2);
}

TEST(the_lowest_source_applies)
{
    make_zone(5);
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
