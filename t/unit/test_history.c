/* test_history.c - a zone's last ten minutes. */
#include "test_support.h"

static const adm_usec_t second = ADM_USEC_PER_SEC;

static adm_history_t history;
static adm_zone_stats_t figures;

static void make_zone(void)
{
    zone = zone_with(10, 10);
    child = join();
}

static void enter_at(adm_usec_t now, adm_ticket_t *ticket)
{
    ck_assert_int_eq(enter_as(child, zone, WAITS, now, ticket), ADM_ADMITTED);
}

static void look_at(adm_usec_t now)
{
    ck_assert_int_eq(adm_view_zone(child, zone, now, &figures, &history), APR_SUCCESS);
}

/* How many were inside, so many seconds before the last look. */
static uint32_t active_before(unsigned seconds)
{
    return history.active[ADM_HISTORY_SECONDS - 1 - seconds];
}

TEST(a_zone_without_visitors_has_an_empty_history)
{
    unsigned n;

    make_zone();
    look_at(5 * second);
    for (n = 0; n < ADM_HISTORY_SECONDS; n++) {
        ck_assert_uint_eq(history.active[n], 0);
        ck_assert_uint_eq(history.queued[n], 0);
        ck_assert_uint_eq(history.rejected[n], 0);
    }
}

TEST(a_second_stores_its_peak)
{
    adm_ticket_t tickets[3];

    make_zone();
    enter_at(1000 * second, &tickets[0]);
    enter_at(1000 * second + 1, &tickets[1]);
    adm_ticket_release(&tickets[0], 1000 * second + 2);
    enter_at(1000 * second + 3, &tickets[2]);
    adm_ticket_release(&tickets[1], 1000 * second + 4);
    adm_ticket_release(&tickets[2], 1000 * second + 5);
    look_at(1001 * second);
    ck_assert_uint_eq(active_before(0), 0);
    ck_assert_uint_eq(active_before(1), 2);
    ck_assert_uint_eq(active_before(2), 0);
}

TEST(seconds_without_change_are_as_the_one_before)
{
    adm_ticket_t ticket;

    make_zone();
    enter_at(1000 * second, &ticket);
    look_at(1100 * second);
    ck_assert_uint_eq(active_before(0), 1);
    ck_assert_uint_eq(active_before(50), 1);
    ck_assert_uint_eq(active_before(100), 1);
    ck_assert_uint_eq(active_before(101), 0);
}

TEST(seconds_between_two_changes_are_as_the_one_before)
{
    adm_ticket_t tickets[2];

    make_zone();
    enter_at(1000 * second, &tickets[0]);
    enter_at(1005 * second, &tickets[1]);
    look_at(1006 * second);
    ck_assert_uint_eq(active_before(0), 2);
    ck_assert_uint_eq(active_before(1), 2);
    ck_assert_uint_eq(active_before(2), 1);
    ck_assert_uint_eq(active_before(6), 1);
    ck_assert_uint_eq(active_before(7), 0);
}

TEST(what_was_before_the_window_lasts_into_it)
{
    adm_ticket_t ticket;

    make_zone();
    enter_at(1000 * second, &ticket);
    look_at(5000 * second);
    ck_assert_uint_eq(active_before(0), 1);
    ck_assert_uint_eq(active_before(ADM_HISTORY_SECONDS - 1), 1);
}

/* Loop test: the next change comes so many seconds after ten minutes, where
 * the ring of seconds has come round. */
TESTS(a_change_ten_minutes_later_does_not_change_the_past, -2, 3)
{
    adm_usec_t later = (1000 + ADM_HISTORY_SECONDS + _i) * second;
    adm_ticket_t tickets[3];

    make_zone();
    enter_at(990 * second, &tickets[0]);
    enter_at(1000 * second, &tickets[1]);
    enter_at(later, &tickets[2]);
    look_at(later + 10 * second);
    ck_assert_uint_eq(active_before(0), 3);
    ck_assert_uint_eq(active_before(10), 3);
    ck_assert_uint_eq(active_before(11), 2);
    ck_assert_uint_eq(active_before(500), 2);
}

TEST(the_history_has_the_queue_and_the_rejections)
{
    adm_ticket_t inside, waiting, rejected;

    zone = zone_with(1, 1);
    child = join();
    enter_at(1000 * second, &inside);
    enter_as(child, zone, WAITS, 1001 * second, &waiting);
    enter_as(child, zone, WAITS, 1002 * second, &rejected);
    look_at(1003 * second);
    ck_assert_uint_eq(history.queued[ADM_HISTORY_SECONDS - 1], 1);
    ck_assert_uint_eq(history.queued[ADM_HISTORY_SECONDS - 3], 1);
    ck_assert_uint_eq(history.queued[ADM_HISTORY_SECONDS - 4], 0);
    ck_assert_uint_eq(history.rejected[ADM_HISTORY_SECONDS - 1], 1);
    ck_assert_uint_eq(history.rejected[ADM_HISTORY_SECONDS - 2], 1);
    ck_assert_uint_eq(history.rejected[ADM_HISTORY_SECONDS - 3], 0);
}

/* Every second of ten minutes, twice: the ring comes round. */
TEST(a_zone_that_changes_every_second_remembers_each)
{
    adm_ticket_t ticket;
    unsigned n;

    make_zone();
    for (n = 0; n < 2 * ADM_HISTORY_SECONDS; n++) {
        adm_usec_t now = (1000 + n) * second;

        if (n % 2 == 0) {
            enter_at(now, &ticket);
            adm_ticket_release(&ticket, now);
        }
    }
    look_at((1000 + n) * second);
    for (n = 0; n < ADM_HISTORY_SECONDS; n++) {
        ck_assert_uint_eq(active_before(n), n >= 1 && n % 2 == 0);
    }
}

TEST(more_are_rejected_in_a_second_than_16_bits_count)
{
    adm_ticket_t inside, rejected;
    unsigned n;

    zone = zone_with(1, 0);
    child = join();
    enter_at(1000 * second, &inside);
    for (n = 0; n < 70000; n++) {
        enter_as(child, zone, WAITS, 1001 * second, &rejected);
    }
    enter_as(child, zone, WAITS, 1003 * second, &rejected);
    look_at(1003 * second);
    ck_assert_uint_eq(history.rejected[ADM_HISTORY_SECONDS - 1], 70001);
    ck_assert_uint_eq(history.rejected[ADM_HISTORY_SECONDS - 2], 70000);
    ck_assert_uint_eq(history.rejected[ADM_HISTORY_SECONDS - 3], 70000);
    ck_assert_uint_eq(history.rejected[ADM_HISTORY_SECONDS - 4], 0);
}

TEST(an_older_clock_reading_is_counted_to_the_newest_second)
{
    adm_ticket_t tickets[2];

    make_zone();
    enter_at(1000 * second, &tickets[0]);
    enter_at(998 * second, &tickets[1]);
    look_at(1000 * second);
    ck_assert_uint_eq(active_before(0), 2);
    ck_assert_uint_eq(active_before(2), 0);
}

TEST(a_clock_that_has_just_begun_has_a_past)
{
    adm_ticket_t ticket;

    make_zone();
    enter_at(0, &ticket);
    look_at(2 * second);
    ck_assert_uint_eq(active_before(2), 1);
    ck_assert_uint_eq(active_before(3), 0);
}

TEST(a_removed_zone_has_no_history)
{
    make_zone();
    zone.incarnation++;
    ck_assert_int_eq(adm_view_zone(child, zone, second, &figures, &history), ADM_ZONE_RETIRED);
    zone.idx = 0;
    ck_assert_int_eq(adm_view_zone(child, zone, second, &figures, &history), APR_EINVAL);
}

/* ---- limits --------------------------------------------------------------- */

static void order(adm_usec_t now, uint32_t limit, uint32_t mode)
{
    adm_override_t before, after;
    adm_override_t wanted = { .limit = limit, .queue_length = ADM_OVERRIDE_KEEP, .mode = mode };

    ck_assert_int_eq(adm_override_set(child, zone, &wanted, now, &before, &after), APR_SUCCESS);
}

static uint32_t limit_before(unsigned seconds)
{
    return history.limit[ADM_HISTORY_SECONDS - 1 - seconds];
}

TEST(a_limit_without_changes_fills_the_whole_history)
{
    make_zone();
    look_at(1000 * second);
    ck_assert_uint_eq(limit_before(0), 10);
    ck_assert_uint_eq(limit_before(ADM_HISTORY_SECONDS - 1), 10);
}

TEST(ordered_limits_are_remembered_and_pause_is_none)
{
    make_zone();
    order(1000 * second, 4, ADM_OVERRIDE_KEEP);
    order(1010 * second, ADM_OVERRIDE_KEEP, ADM_MODE_PAUSE);
    order(1020 * second, 7, ADM_MODE_OPEN);
    look_at(1030 * second);
    ck_assert_uint_eq(limit_before(0), 7);
    ck_assert_uint_eq(limit_before(10), 7);
    ck_assert_uint_eq(limit_before(11), 0);
    ck_assert_uint_eq(limit_before(20), 0);
    ck_assert_uint_eq(limit_before(21), 4);
    ck_assert_uint_eq(limit_before(30), 4);
    ck_assert_uint_eq(limit_before(31), 10);
    ck_assert_uint_eq(limit_before(ADM_HISTORY_SECONDS - 1), 10);
    look_at(5000 * second);
    ck_assert_uint_eq(limit_before(ADM_HISTORY_SECONDS - 1), 7);
}

TEST(a_configured_limit_changes_at_the_load_not_at_the_sample)
{
    adm_usec_t begin;

    zone = zone_called("mine", 10, 10);
    child = join();
    begin = adm_now();
    zone = zone_called("mine", 3, 10);
    look_at(begin + 20 * second);
    ck_assert_uint_eq(limit_before(0), 3);
    ck_assert_uint_eq(limit_before(15), 3);
    ck_assert_uint_eq(limit_before(25), 10);
    order(begin + 30 * second, 5, ADM_OVERRIDE_KEEP);
    look_at(begin + 700 * second);
    ck_assert_uint_eq(limit_before(0), 5);
    ck_assert_uint_eq(limit_before(ADM_HISTORY_SECONDS - 1), 5);
    /* The load is so long ago that it is forgotten, and no change of now. */
    zone = zone_called("another", 8, 10);
    zone = zone_called("another", 9, 10);
    look_at(adm_now() + 700 * second);
    ck_assert_uint_eq(limit_before(0), 9);
    ck_assert_uint_eq(limit_before(ADM_HISTORY_SECONDS - 1), 9);
}
