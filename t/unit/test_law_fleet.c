/* test_law_fleet.c - what a server of a fleet tells the engine, and what it believes. */
#include "fleet/law_fleet.h"
#include "test_support.h"

#define MSEC INT64_C(1000)
#define SECOND (1000 * MSEC)
#define SPAN_MSEC 70000

static const law_fleet_terms_t terms = { .limit = 40,
                                         .lease_usec = 30 * SECOND,
                                         .hold_usec = 5 * SECOND };

static law_fleet_t fleet;
static law_fleet_work_t work;
static law_fleet_sync_t sync_sent;
static law_fleet_share_t share;
static int64_t now;

static void begin(void)
{
    now = 1000 * SECOND;
    work = (law_fleet_work_t){ .other_limit = 40 };
    law_fleet_begin(&fleet, now);
    law_fleet_connected(&fleet, true, 5000, now);
}

static void tell(void)
{
    law_fleet_fill_sync(&fleet, &terms, &work, false, now, &sync_sent);
}

static bool hear(int64_t gen, uint32_t granted, uint32_t target)
{
    law_fleet_reply_t reply = { .status = LAW_FLEET_OK,
                                .engine_msec = 6000,
                                .gen = gen,
                                .granted = granted,
                                .target = target,
                                .span_msec = SPAN_MSEC };

    return law_fleet_accept_reply(&fleet, &terms, &reply, now, &share);
}

static bool hear_push(int64_t gen, uint32_t granted, uint32_t target)
{
    law_fleet_push_t push = { .gen = gen, .granted = granted, .target = target };

    return law_fleet_accept_push(&fleet, &terms, &push, now, &share);
}

TEST(the_promise_is_the_greater_of_share_and_permits_out)
{
    begin();
    work.share = 3;
    work.active = 2;
    tell();
    ck_assert_uint_eq(sync_sent.has, 3);
    begin();
    work.share = 2;
    work.active = 5;
    work.queued = 100;
    tell();
    ck_assert_uint_eq(sync_sent.has, 5);
    ck_assert_uint_eq(sync_sent.want, 40);
}

TEST(a_lease_starts_when_the_sync_was_sent)
{
    begin();
    tell();
    now += 2 * SECOND;
    ck_assert(hear(7, 4, 4));
    ck_assert_int_eq(share.until_usec, now - 2 * SECOND + 27 * SECOND);
    ck_assert_uint_eq(share.share, 4);
    ck_assert(!hear(8, 9, 9)); /* nothing was sent */
    tell();
    ck_assert_int_eq(sync_sent.gen_seen, 7);
    ck_assert_int_eq(sync_sent.age_msec, 0);
    ck_assert_int_eq(sync_sent.engine_msec, 6000);
    now += 27 * SECOND;
    ck_assert(!hear(8, 9, 9)); /* as old as its lease */
    tell();
    ck_assert_int_eq(sync_sent.gen_seen, 7);
}

TEST(an_older_answer_extends_the_lease_and_nothing_else)
{
    begin();
    tell();
    ck_assert(hear(7, 4, 4));
    tell();
    ck_assert(hear_push(9, 2, 2));
    ck_assert_uint_eq(share.share, 2);
    ck_assert(!hear_push(9, 3, 3));
    ck_assert(!hear_push(8, 3, 3));
    ck_assert(hear(8, 6, 6));
    ck_assert_uint_eq(share.share, LAW_FLEET_AS_BEFORE);
}

TEST(a_push_counts_after_the_first_answer_of_its_run_and_within_the_lease)
{
    begin();
    ck_assert(!hear_push(9, 2, 2));
    tell();
    ck_assert(hear(7, 4, 4));
    law_fleet_lost(&fleet);
    law_fleet_connected(&fleet, true, 100, now);
    ck_assert(!hear_push(9, 2, 2));
    tell();
    ck_assert_int_eq(sync_sent.gen_seen, 0);
    ck_assert(hear(3, 4, 4));
    ck_assert(hear_push(9, 2, 2));
    now += 28 * SECOND;
    ck_assert(!hear_push(10, 5, 5));
}

TEST(a_push_of_a_generation_far_ahead_is_not_believed)
{
    const int64_t day = 86400000;

    begin();
    tell();
    ck_assert(hear(7, 4, 4));
    ck_assert(!hear_push(6000 + day + 1, 9, 9));
    ck_assert(hear_push(6000 + day, 3, 3));
    now += SECOND;
    ck_assert(!hear_push(6000 + day + 1001, 9, 9));
    ck_assert(hear_push(6000 + day + 1000, 2, 2));
}

TEST(no_more_is_believed_than_the_own_limit)
{
    begin();
    tell();
    ck_assert(hear(7, 4000, 4000));
    ck_assert_uint_eq(share.share, 40);
    ck_assert(hear_push(8, 50000, 41));
    ck_assert_uint_eq(share.share, 40);
}

static int64_t due(void)
{
    return law_fleet_due(&fleet, &terms, &work, now) - now;
}

TEST(a_sync_is_due_when_there_is_news)
{
    begin();
    ck_assert_int_le(due(), 0); /* the first */
    tell();
    ck_assert_int_gt(due(), SECOND); /* one at a time */
    work.active = work.share = 4;
    ck_assert(hear(7, 4, 4));
    ck_assert_int_eq(due(), 10 * SECOND);
    work.queued = 1;
    ck_assert_int_le(due(), 2 * MSEC);
    work.active = 3;
    ck_assert_int_eq(due(), 200 * MSEC); /* it will not wait long */
    work.queued = 0;
    work.share = 3;
    ck_assert_int_le(due(), 2 * MSEC); /* it gives one back */
}

TEST(syncs_that_change_nothing_become_rare)
{
    unsigned n;

    begin();
    work.share = work.active = 4;
    tell();
    ck_assert(hear(7, 4, 4));
    work.share = work.active = 3;
    for (n = 0; n < 12; n++) {
        now += 10 * SECOND;
        tell();
        ck_assert(hear(7, 4, 4));
    }
    ck_assert_int_eq(due(), 200 * MSEC);
}

TEST(news_is_sent_soon_after_syncs_without_effect)
{
    unsigned n;

    begin();
    work.share = work.active = 4;
    for (n = 0; n < 12; n++) {
        now += 10 * SECOND;
        tell();
        ck_assert(hear(7, 5, 5));
    }
    ck_assert_int_eq(due(), 200 * MSEC);
    work.share = work.active = 3;
    ck_assert_int_le(due(), 2 * MSEC);
    tell();
    ck_assert(hear(7, 5, 5));
    work.active = 0;
    work.share = 3;
    ck_assert_int_le(due(), 2 * MSEC);
}

TEST(a_server_that_got_all_it_wanted_requests_more)
{
    begin();
    work.queued = 2;
    tell();
    ck_assert(law_fleet_accept_reply(
        &fleet, &terms, &(law_fleet_reply_t){ .status = LAW_FLEET_OK, .gen = 7, .is_short = true },
        now, &share));
    work.queued = 3;
    ck_assert_int_eq(due(), 200 * MSEC); /* there is no more */
    ck_assert(hear_push(8, 1, 1));
    work = (law_fleet_work_t){ 1, .active = 1, .queued = 3, .other_limit = 40 };
    ck_assert_int_eq(due(), 200 * MSEC);
    ck_assert(hear_push(9, 2, 2));
    work = (law_fleet_work_t){ 2, .active = 2, .queued = 2, .other_limit = 40 };
    ck_assert_int_le(due(), 2 * MSEC);
}

TEST(a_reply_overtaken_by_a_push_does_not_exclude_more_permits)
{
    law_fleet_reply_t reply = {
        .status = LAW_FLEET_OK, .gen = 7, .granted = 1, .target = 1, .is_short = true
    };

    begin();
    tell();
    ck_assert(hear(6, 1, 1));
    work = (law_fleet_work_t){ 1, .active = 1, .queued = 1, .other_limit = 40 };
    tell();
    ck_assert(hear_push(8, 2, 2));
    ck_assert(law_fleet_accept_reply(&fleet, &terms, &reply, now, &share));
    work = (law_fleet_work_t){ 2, .active = 2, .queued = 1, .other_limit = 40 };
    ck_assert_int_le(due(), 2 * MSEC);
    /* Unless it was less than what was asked for. */
    tell();
    ck_assert(hear_push(9, 2, 2));
    ck_assert(law_fleet_accept_reply(&fleet, &terms, &reply, now, &share));
    work.queued = 2;
    ck_assert_int_eq(due(), 200 * MSEC);
}

TEST(idle_permits_are_returned_after_a_second)
{
    begin();
    work.share = 4;
    tell();
    ck_assert(hear(7, 4, 4));
    ck_assert_uint_eq(law_fleet_keep(&fleet, &work, now), LAW_FLEET_AS_BEFORE);
    now += SECOND;
    ck_assert_uint_eq(law_fleet_keep(&fleet, &work, now), 0);
    work.active = 1;
    ck_assert_uint_eq(law_fleet_keep(&fleet, &work, now), LAW_FLEET_AS_BEFORE);
}

/* R16 */
TEST(the_longest_lease_and_hold_are_repeated)
{
    begin();
    tell();
    ck_assert_int_eq(sync_sent.span_msec, 0);
    ck_assert(hear(7, 4, 4));
    law_fleet_lost(&fleet);
    law_fleet_connected(&fleet, true, 5000, now); /* one that knows nothing */
    tell();
    ck_assert_int_eq(sync_sent.span_msec, SPAN_MSEC);
}

TEST(a_new_agent_continues_the_sequence_of_its_server)
{
    uint64_t before;

    begin();
    tell();
    before = sync_sent.sequence;
    law_fleet_begin(&fleet, now + 1000);
    tell();
    ck_assert_uint_gt(sync_sent.sequence, before);
    law_fleet_accept_reply(&fleet, &terms,
                           &(law_fleet_reply_t){ .status = LAW_FLEET_STALE,
                                                 .sequence = UINT64_C(1) << 60 },
                           now, &share);
    tell();
    ck_assert_uint_gt(sync_sent.sequence, UINT64_C(1) << 60);
}

TEST(a_sync_that_could_not_be_sent_is_due_immediately)
{
    begin();
    tell();
    ck_assert_int_gt(due(), 0);
    law_fleet_lost(&fleet);
    ck_assert_int_le(due(), 0);
}
