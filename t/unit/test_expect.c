/* test_expect.c - who would have to wait too long is told at once. */
#include "test_keys.h"

#include "core/adm_expect.h"

#define SECOND ADM_USEC_PER_SEC

static adm_usec_t now;

/* Requests of a second each have ended. */
static void begin_with_seconds(uint32_t limit, uint32_t served)
{
    adm_ticket_t ticket;
    adm_entry_t entry = entry_of(1);
    uint32_t n;

    begin(limit);
    now = adm_now();
    entry.target_usec = 3 * SECOND;
    for (n = 0; n < served; n++) {
        ck_assert_int_eq(enter_as(child, zone, entry, now, &ticket), ADM_ADMITTED);
        adm_ticket_release(&ticket, now += SECOND);
    }
}

static adm_outcome_t come_late(adm_entry_t entry, uint32_t n)
{
    entry.target_usec = 3 * SECOND;
    return enter_as(child, zone, entry, now, &tickets[n]);
}

static adm_outcome_t come_with(uint64_t key, uint32_t n)
{
    return come_late(entry_of(key), n);
}

TEST(a_request_that_would_wait_beyond_the_target_is_rejected)
{
    uint32_t n;

    begin_with_seconds(1, 2);
    ck_assert_int_eq(come_with(0, 0), ADM_ADMITTED);
    for (n = 1; n <= 3; n++) {
        ck_assert_int_eq(come_with(0, n), ADM_WAITING);
    }
    ck_assert_int_eq(come_with(0, 4), ADM_LATE);
    /* In a second it would not be. */
    ck_assert_int_eq(tickets[4].drain_usec, SECOND);
    ck_assert_uint_eq(stats_of(child, zone).figures.outcomes[ADM_LATE], 1);
}

TEST(without_a_target_the_length_alone_bounds_the_queue)
{
    uint32_t n;

    begin_with_seconds(1, 2);
    come(0, 0, 1, ADM_ADMITTED);
    for (n = 1; n <= LENGTH; n++) {
        come(0, n, 1, ADM_WAITING);
    }
    come(0, LENGTH + 1, 1, ADM_FULL);
}

TEST(one_that_takes_long_does_not_close_an_empty_queue)
{
    begin_with_seconds(1, 0);
    ck_assert_int_eq(come_with(0, 0), ADM_ADMITTED);
    adm_ticket_release(&tickets[0], now += 3600 * SECOND);
    ck_assert_int_eq(come_with(0, 0), ADM_ADMITTED);
    ck_assert_int_eq(come_with(0, 1), ADM_WAITING);
    ck_assert_int_eq(come_with(0, 2), ADM_LATE);
}

TEST(one_long_request_among_many_causes_no_rejection)
{
    begin_with_seconds(1, 63);
    ck_assert_int_eq(come_with(0, 0), ADM_ADMITTED);
    adm_ticket_release(&tickets[0], now += 32 * SECOND); /* mean 1.5 s */
    ck_assert_int_eq(come_with(0, 0), ADM_ADMITTED);
    ck_assert_int_eq(come_with(0, 1), ADM_WAITING);
    ck_assert_int_eq(come_with(0, 2), ADM_WAITING);
    ck_assert_int_eq(come_with(0, 3), ADM_LATE);
}

TEST(a_visitor_is_not_late_behind_a_crawler)
{
    uint32_t n;

    begin_with_seconds(1, 2);
    ck_assert_int_eq(come_with(CRAWLER, 0), ADM_ADMITTED);
    for (n = 1; n <= 3; n++) {
        ck_assert_int_eq(come_with(CRAWLER, n), ADM_WAITING);
    }
    ck_assert_int_eq(come_with(CRAWLER, 4), ADM_LATE);
    ck_assert_int_eq(come_with(1, 5), ADM_WAITING);
    ck_assert_int_eq(come_with(2, 6), ADM_WAITING);
    ck_assert_int_eq(come_with(3, 7), ADM_LATE); /* the fourth key */
}

TEST(a_key_at_its_maximum_is_late_though_permits_are_free)
{
    adm_entry_t entry = entry_of(CRAWLER);
    uint32_t n;

    begin_with_seconds(4, 8);
    entry.key_max = 1;
    ck_assert_int_eq(come_late(entry, 0), ADM_ADMITTED);
    for (n = 1; n <= 3; n++) {
        ck_assert_int_eq(come_late(entry, n), ADM_WAITING);
    }
    ck_assert_int_eq(come_late(entry, 4), ADM_LATE);
    ck_assert_int_eq(come_with(1, 5), ADM_ADMITTED);
}

TEST(costs_count_as_they_are)
{
    adm_entry_t dear = entry_of(0);

    begin_with_seconds(4, 4);
    dear.cost = 4;
    ck_assert_int_eq(come_late(dear, 0), ADM_ADMITTED);
    ck_assert_int_eq(come_late(dear, 1), ADM_WAITING);
    ck_assert_int_eq(come_late(dear, 2), ADM_WAITING);
    ck_assert_int_eq(come_late(dear, 3), ADM_WAITING);
    ck_assert_int_eq(come_late(dear, 4), ADM_LATE);
}

TEST(a_dry_run_counts_requests_that_would_wait_or_be_late)
{
    adm_entry_t entry = entry_of(0);
    adm_zone_stats_t stats;
    uint32_t n;

    begin_with_seconds(1, 2);
    entry.dry_run = true;
    for (n = 0; n < 6; n++) {
        ck_assert_int_eq(come_late(entry, n), n == 0  ? ADM_ADMITTED
                                              : n < 4 ? ADM_DRY_QUEUED
                                                      : ADM_DRY_LATE);
    }
    stats = stats_of(child, zone);
    ck_assert_uint_eq(stats.figures.outcomes[ADM_DRY_LATE], 2);
    ck_assert_uint_eq(stats.figures.dry_wait_usec, (1 + 2 + 3) * SECOND);
    ck_assert_uint_eq(adm_figures_rejected(&stats.figures), 2);
}

/* Two a second come in a dry run where one a second is served. Two of them run at
 * once, at most. */
static void come_twice_a_second(uint32_t queue_length)
{
    adm_entry_t entry = entry_of(0);
    uint32_t n;

    begin_with_seconds(1, 2);
    entry.dry_run = true;
    entry.queue_length = queue_length;
    for (n = 0; n < 20; n++) {
        if (n >= 2) {
            adm_ticket_release(&tickets[n - 2], now);
        }
        adm_ticket_enter(child, zone, &entry, now, &tickets[n]);
        now += SECOND / 2;
    }
    adm_ticket_release(&tickets[n - 2], now);
    adm_ticket_release(&tickets[n - 1], now + SECOND / 2);
}

/* In a dry run nobody waits, so what runs does not tell of a queue that grows. */
TEST(a_dry_run_lets_its_queue_grow_and_shrink)
{
    adm_entry_t entry = entry_of(0);
    adm_figures_t figures;

    come_twice_a_second(5);
    figures = stats_of(child, zone).figures;
    /* Ten are served, five wait, and perhaps one begins. */
    ck_assert_uint_ge(figures.outcomes[ADM_DRY_FULL], 4);
    ck_assert_uint_le(figures.outcomes[ADM_DRY_FULL], 5);
    ck_assert_uint_eq(figures.queued_max, 5);
    ck_assert_uint_ge(figures.dry_wait_usec, 3 * figures.outcomes[ADM_DRY_QUEUED] * SECOND);

    /* When all are served that would have waited, nobody does. */
    now += 6 * SECOND;
    entry.dry_run = true;
    ck_assert_int_eq(enter_as(child, zone, entry, now, &tickets[0]), ADM_ADMITTED);
}

/* Who would have been rejected runs, and has nobody else rejected. */
TEST(a_dry_run_without_a_queue_rejects_every_other_one)
{
    come_twice_a_second(0);
    ck_assert_uint_eq(stats_of(child, zone).figures.outcomes[ADM_DRY_FULL], 10);
}

static adm_outcome_t come_with_priority(adm_priority_t priority, uint32_t n)
{
    adm_entry_t entry = entry_of(0);

    entry.priority = priority;
    return come_late(entry, n);
}

TEST(a_high_one_is_not_late_behind_low_ones)
{
    uint32_t n;

    begin_with_seconds(1, 2);
    ck_assert_int_eq(come_with_priority(ADM_PRIORITY_LOW, 0), ADM_ADMITTED);
    for (n = 1; n <= 3; n++) {
        ck_assert_int_eq(come_with_priority(ADM_PRIORITY_LOW, n), ADM_WAITING);
    }
    ck_assert_int_eq(come_with_priority(ADM_PRIORITY_LOW, 4), ADM_LATE);
    ck_assert_int_eq(come_with_priority(ADM_PRIORITY_NORMAL, 5), ADM_WAITING);
    ck_assert_int_eq(come_with_priority(ADM_PRIORITY_HIGH, 6), ADM_WAITING);
    ck_assert_int_eq(come_with_priority(ADM_PRIORITY_HIGH, 7), ADM_WAITING);
    ck_assert_int_eq(come_with_priority(ADM_PRIORITY_HIGH, 8), ADM_WAITING);
    ck_assert_int_eq(come_with_priority(ADM_PRIORITY_HIGH, 9), ADM_LATE);
}

TEST(a_low_one_is_late_behind_high_ones)
{
    uint32_t n;

    begin_with_seconds(1, 2);
    for (n = 0; n <= 3; n++) {
        ck_assert_int_eq(come_with_priority(ADM_PRIORITY_HIGH, n), n ? ADM_WAITING : ADM_ADMITTED);
    }
    ck_assert_int_eq(come_with_priority(ADM_PRIORITY_LOW, 4), ADM_LATE);
}

TEST(one_that_runs_alone_counts_as_the_limit)
{
    adm_entry_t alone = entry_of(0);

    begin_with_seconds(4, 4);
    alone.cost = 65535;
    ck_assert_int_eq(come_with(0, 0), ADM_ADMITTED);
    ck_assert_int_eq(come_late(alone, 1), ADM_WAITING);
    ck_assert_int_eq(come_late(alone, 2), ADM_WAITING);
    ck_assert_int_eq(come_with(0, 3), ADM_WAITING);
    ck_assert_int_eq(come_with(0, 4), ADM_WAITING);
    ck_assert_int_eq(come_late(alone, 5), ADM_LATE);
    /* Permits that wait and the one that comes: 4 + 4 + 1 + 1 + 4, of 4. */
    ck_assert_int_eq(tickets[5].drain_usec, SECOND / 2);
}

TEST(the_retry_time_depends_on_permits)
{
    adm_entry_t dear = entry_of(0);
    uint32_t n;

    begin_with_seconds(4, 4);
    dear.cost = 4;
    ck_assert_int_eq(come_as(dear, 0), ADM_ADMITTED);
    for (n = 1; n <= LENGTH; n++) {
        ck_assert_int_eq(come_as(dear, n), ADM_WAITING);
    }
    ck_assert_int_eq(come_as(dear, LENGTH + 1), ADM_FULL);
    ck_assert_int_eq(tickets[LENGTH + 1].drain_usec, (4 * LENGTH + 1) * SECOND / 4);
}

TEST(a_dry_run_counts_the_requests_of_its_queue_not_their_permits)
{
    adm_entry_t dear = entry_of(0);
    uint32_t n;

    begin(4);
    dear.dry_run = true;
    for (n = 0; n < LENGTH + 2; n++) {
        dear.cost = n % 2 ? 65535 : 4; /* which are the same: all of them */
        ck_assert_int_eq(come_as(dear, n), n == 0        ? ADM_ADMITTED
                                           : n <= LENGTH ? ADM_DRY_QUEUED
                                                         : ADM_DRY_FULL);
    }
    ck_assert_uint_eq(stats_of(child, zone).figures.queued_max, LENGTH);
}

/* Nobody knows for how long a zone is paused: who comes waits. */
TEST(no_request_is_late_while_the_zone_is_paused)
{
    const adm_override_t paused = { ADM_OVERRIDE_KEEP, ADM_OVERRIDE_KEEP, ADM_MODE_PAUSE };
    const adm_override_t open = { ADM_OVERRIDE_KEEP, ADM_OVERRIDE_KEEP, ADM_MODE_OPEN };
    adm_override_t before, after;
    uint32_t n;

    begin_with_seconds(1, 2);
    ck_assert_int_eq(adm_override_set(child, zone, &paused, now, &before, &after), APR_SUCCESS);
    for (n = 0; n < 6; n++) {
        ck_assert_int_eq(come_with(0, n), ADM_WAITING);
    }
    ck_assert_int_eq(adm_override_set(child, zone, &open, now, &before, &after), APR_SUCCESS);
    ck_assert_int_eq(come_with(0, n), ADM_LATE);
}

TEST(a_dry_run_counts_no_late_request_while_the_zone_is_paused)
{
    const adm_override_t paused = { ADM_OVERRIDE_KEEP, ADM_OVERRIDE_KEEP, ADM_MODE_PAUSE };
    adm_entry_t entry = entry_of(0);
    adm_override_t before, after;
    uint32_t n;

    begin_with_seconds(1, 2);
    entry.dry_run = true;
    ck_assert_int_eq(adm_override_set(child, zone, &paused, now, &before, &after), APR_SUCCESS);
    for (n = 0; n < 6; n++) {
        ck_assert_int_eq(come_late(entry, n), ADM_DRY_QUEUED);
    }
}
