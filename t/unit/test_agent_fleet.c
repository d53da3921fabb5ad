/* test_agent_fleet.c - when the agent reports what to the engine. The test is the engine. */
#include "core/adm_agent.h"
#include "fleet/fleet_duty.h"
#include "test_support.h"

/* ---- an engine ------------------------------------------------------------ */

static engine_callbacks_t callbacks;
static law_fleet_sync_t told;
static unsigned syncs;
static bool is_joined;

static engine_t *open_it(apr_pool_t *p, const engine_setup_t *setup)
{
    callbacks = setup->callbacks;
    syncs = 0;
    is_joined = false;
    return NULL;
}

static void work(engine_t *engine, int64_t now)
{
    if (!is_joined) {
        is_joined = true;
        callbacks.joined(0, true, 5000, now);
    }
}

static bool take_sync(engine_t *engine, uint32_t zone, const law_fleet_sync_t *sync)
{
    told = *sync;
    syncs++;
    return true;
}

static void close_it(engine_t *engine)
{
}

static void answer(int64_t gen, uint32_t granted, uint32_t target, bool is_tight)
{
    const law_fleet_reply_t reply = { .status = LAW_FLEET_OK,
                                      .engine_msec = 5000,
                                      .gen = gen,
                                      .granted = granted,
                                      .target = target,
                                      .limit = 10,
                                      .is_tight = is_tight };
    const law_fleet_who_t nobody = { .count = 0 };

    callbacks.replied(0, &reply, &nobody, adm_clock_since_boot());
}

/* ---- its agent -------------------------------------------------------------- */

static void log_event(const fleet_news_t *news)
{
}

/* @param hold  hold=; 0: auto, and requests end in 20 s at the latest */
static void begin_with(adm_usec_t hold)
{
    static const engine_provider_t provider = {
        .open = open_it, .work = work, .sync = take_sync, .close = close_it
    };
    static agent_share_t share;
    static fleet_self_t self;
    static fleet_setup_t fleet;

    zone = zone_with(10, 20);
    adm_segment_share(segment, zone, ADM_FALLBACK_KEEP);
    child = join();
    share = (agent_share_t){
        .name = "test",
        .handle = zone,
        .terms = { .limit = 10, .lease_usec = 3 * ADM_USEC_PER_SEC, .hold_usec = hold },
        .longest_usec = 20 * ADM_USEC_PER_SEC
    };
    fleet_begin_self(&self);
    fleet = (fleet_setup_t){ .provider = &provider,
                             .self = &self,
                             .name = "here",
                             .zones = &share,
                             .count = 1,
                             .id_fd = -1,
                             .log_event = log_event };
    fleet_duty.begin(child, &fleet, pool);
}

static void begin(void)
{
    begin_with(ADM_USEC_PER_SEC);
}

/* @return in how long it wants to be called again. */
static adm_usec_t call(void)
{
    adm_usec_t now = adm_now();

    return fleet_duty.run(child, now, true) - now;
}

TESTS(the_grace_period_is_twice_the_longest_request_within_bounds, 0, 4)
{
    static const unsigned seconds[][2] = { { 0, 2 }, { 1, 2 }, { 7, 14 }, { 11, 20 } };
    adm_ticket_t inside;

    begin_with(0);
    enter_many(child, zone, &inside, 1, ADM_WAITING);
    rec_of_zone(zone)->figures.service.max_usec = seconds[_i][0] * ADM_USEC_PER_SEC;
    call();
    ck_assert_uint_eq(syncs, 1);
    ck_assert_int_eq(told.terms.hold_usec, seconds[_i][1] * ADM_USEC_PER_SEC);
}

/* The engine does not receive the smaller commitment, so the agent repeats it. */
TEST(soon_due_work_shortens_the_sleep)
{
    adm_ticket_t inside[2], gone;
    unsigned n, waited = 0;

    begin();
    call();
    ck_assert_uint_eq(syncs, 1);
    answer(7, 2, 2, false);
    enter_many(child, zone, inside, 2, ADM_ADMITTED);
    enter_many(child, zone, &gone, 1, ADM_WAITING);
    adm_ticket_cancel(&gone, ADM_GONE, adm_now());
    leave(&inside[0]);
    callbacks.pushed(0, &(law_fleet_push_t){ .gen = 8, .granted = 2, .target = 1 },
                     adm_clock_since_boot());
    for (n = 2; n < 8; n++) {
        adm_usec_t next = call();

        while (syncs < n) {
            waited++;
            ck_assert_int_le(next, 100 * ADM_USEC_PER_MSEC - 1);
            pause_briefly();
            next = call();
        }
        ck_assert_uint_eq(told.has, 1);
        answer(8, 2, 1, false);
    }
    ck_assert_uint_gt(waited, 0);
}

/* The server has as many permits as requests run, and other servers lack permits. */
static void begin_tight(adm_ticket_t *inside, unsigned count)
{
    begin();
    enter_many(child, zone, inside, count, ADM_WAITING);
    call();
    answer(7, count, count, true);
    call();
}

TEST(permits_idle_while_others_are_short_are_returned_immediately)
{
    adm_ticket_t inside[2];

    begin_tight(inside, 2);
    leave(&inside[0]);
    WAIT_FOR((call(), told.has == 1));
    ck_assert_uint_eq(told.want, 1);
    ck_assert_uint_eq(rec_of_zone(zone)->share_bound, 1);
}

/* The agent does not wake itself for a report that it cannot send. */
static void assert_is_kept(uint32_t share)
{
    unsigned wakes;

    call();
    wakes = adm_agent_wakes(segment);
    call();
    ck_assert_uint_eq(adm_agent_wakes(segment), wakes);
    ck_assert_uint_eq(rec_of_zone(zone)->share_bound, share);
}

/* The lease can expire before the engine reconnects; with "keep" the share is then the limit. */
TEST(no_permit_is_returned_to_a_disconnected_engine)
{
    adm_ticket_t inside[2];

    begin_tight(inside, 2);
    callbacks.parted(0);
    leave(&inside[0]);
    leave(&inside[1]);
    assert_is_kept(2);
    callbacks.joined(0, false, 5000, adm_clock_since_boot());
    WAIT_FOR((call(), told.has == 0));
    ck_assert_uint_eq(rec_of_zone(zone)->share_bound, 0);
}

TEST(permits_idle_while_a_reply_is_awaited_are_returned_then)
{
    adm_ticket_t inside[3];

    begin_tight(inside, 3);
    leave(&inside[0]);
    WAIT_FOR((call(), told.has == 2));
    leave(&inside[1]);
    assert_is_kept(2);
    answer(8, 2, 2, true);
    WAIT_FOR((call(), told.has == 1));
}

TEST(an_agent_that_ends_reports_it_if_no_reply_is_awaited)
{
    adm_ticket_t inside[2];
    unsigned before;

    begin_tight(inside, 2);
    leave(&inside[0]);
    WAIT_FOR((call(), told.has == 1));
    before = syncs;
    fleet_duty.end(child, adm_now());
    ck_assert_uint_eq(syncs, before);
    answer(8, 1, 1, true);
    fleet_duty.end(child, adm_now());
    ck_assert_uint_eq(syncs, before + 1);
    ck_assert(told.leaves);
}
