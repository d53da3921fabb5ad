/* test_fleet.c - this server's share of a limit over many: promise, lease, fallback. */
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include "core/adm_agent.h"
#include "fleet/fleet_shm.h"
#include "core/adm_limit.h"
#include "test_story.h"

WITH_FLOWS_TOO;

#define HOUR (3600 * ADM_USEC_PER_SEC)

static law_fleet_work_t work;

static void share_zone(adm_fallback_t fallback)
{
    tell("zone 5 10");
    adm_segment_share(segment, zone, fallback);
}

static void apply(uint32_t share, adm_usec_t lasts)
{
    law_fleet_share_t told = { .share = share, .until_usec = adm_clock_since_boot() + lasts };

    ck_assert_int_eq(fleet_apply(child, zone, &told, adm_now()), APR_SUCCESS);
}

/* The lease is over from now on. */
static void end_lease(void)
{
    atomic_store(&rec_of_zone(zone)->share_until, 1);
}

static void promise_while(uint32_t keep, bool is_tight)
{
    ck_assert_int_eq(fleet_promise(child, zone, keep, is_tight, adm_now(), &work), APR_SUCCESS);
}

static void promise(uint32_t keep)
{
    promise_while(keep, false);
}

static uint32_t limit(void)
{
    return adm_limit_effective(rec_of_zone(zone));
}

TEST(a_server_begins_with_nothing_and_runs_what_it_is_granted)
{
    share_zone(ADM_FALLBACK_REJECT);
    ck_assert_uint_eq(limit(), 0);
    tell("ABC waits");
    apply(2, HOUR);
    ck_assert_uint_eq(limit(), 2);
    tell("has AB");
}

TEST(the_own_limit_applies_as_well)
{
    share_zone(ADM_FALLBACK_KEEP);
    apply(9, HOUR);
    ck_assert_uint_eq(limit(), 5);
    adm_limit_set(rec_of_zone(zone), ADM_LIMIT_AUTO, 3);
    ck_assert_uint_eq(limit(), 3);
    promise(LAW_FLEET_AS_BEFORE);
    ck_assert_uint_eq(work.other_limit, 3);
    ck_assert_uint_eq(work.share, 9);
    adm_limit_set(rec_of_zone(zone), ADM_LIMIT_AUTO, ADM_LIMIT_NONE);
}

static const struct {
    adm_fallback_t fallback;
    uint32_t limit, share;
} fallbacks[] = { { ADM_FALLBACK_KEEP, 3, 3 },
                  { ADM_FALLBACK_REJECT, 0, 0 },
                  { ADM_FALLBACK_OPEN, 5, 0 } };

TESTS(the_fallback_applies_when_a_lease_expires, 0, COUNT(fallbacks))
{
    share_zone(fallbacks[_i].fallback);
    apply(3, HOUR);
    ck_assert_uint_eq(limit(), 3);
    end_lease();
    ck_assert_uint_eq(limit(), fallbacks[_i].limit);
    promise(LAW_FLEET_AS_BEFORE);
    ck_assert_uint_eq(work.share, fallbacks[_i].share);
    /* A new lease does not restore returned permits. */
    apply(LAW_FLEET_AS_BEFORE, HOUR);
    ck_assert_uint_eq(limit(), fallbacks[_i].share);
}

TEST(an_answer_that_comes_after_its_lease_changes_nothing)
{
    share_zone(ADM_FALLBACK_KEEP);
    apply(3, HOUR);
    apply(1, -1);
    ck_assert_uint_eq(limit(), 3);
    apply(5, -1);
    ck_assert_uint_eq(limit(), 3);
}

TEST(a_promise_is_what_is_kept_or_runs)
{
    share_zone(ADM_FALLBACK_KEEP);
    apply(4, HOUR);
    tell("AB in");
    promise(LAW_FLEET_AS_BEFORE);
    ck_assert_uint_eq(work.share, 4);
    ck_assert_uint_eq(work.active, 2);
    promise(3);
    ck_assert_uint_eq(work.share, 3);
    promise(0);
    ck_assert_uint_eq(work.share, 2);
    ck_assert_uint_eq(limit(), 2);
}

/* How often the agent is woken by this step. */
static void assert_wakes(const char *step, unsigned times)
{
    unsigned before = adm_agent_wakes(segment);

    tell("%s", step);
    ck_assert_uint_eq(adm_agent_wakes(segment), before + times);
}

TEST(the_agent_is_woken_once_per_change)
{
    share_zone(ADM_FALLBACK_KEEP);
    apply(2, HOUR);
    promise(LAW_FLEET_AS_BEFORE);
    assert_wakes("AB in", 0);
    assert_wakes("CD waits", 1);
    apply(1, HOUR); /* one has to be returned */
    promise(LAW_FLEET_AS_BEFORE);
    ck_assert_uint_eq(work.active, 2);
    assert_wakes("A leaves", 1);
    promise(LAW_FLEET_AS_BEFORE);
    ck_assert_uint_eq(work.active, 1);
}

TEST(the_agent_is_woken_when_a_permit_falls_idle_while_others_are_short)
{
    share_zone(ADM_FALLBACK_KEEP);
    apply(2, HOUR);
    tell("AB in; C waits");
    promise_while(LAW_FLEET_AS_BEFORE, true);
    assert_wakes("A leaves; has BC", 0);
    assert_wakes("B leaves", 1);
    promise(LAW_FLEET_AS_BEFORE); /* no server lacks permits */
    assert_wakes("C leaves", 0);
}

TEST(a_zone_that_is_not_shared_any_more_has_its_own_limit)
{
    share_zone(ADM_FALLBACK_REJECT);
    adm_segment_share(segment, zone, ADM_FALLBACK_NONE);
    ck_assert_uint_eq(limit(), 5);
    adm_segment_share(segment, zone, ADM_FALLBACK_KEEP);
    ck_assert_uint_eq(limit(), 0);
    apply(2, HOUR);
    adm_segment_share(segment, zone, ADM_FALLBACK_REJECT); /* a reload */
    ck_assert_uint_eq(limit(), 2);
}

TEST(the_engines_report_is_shown)
{
    law_fleet_reply_t reply = { .status = LAW_FLEET_OK,
                                .granted = 3,
                                .target = 2,
                                .servers = 4,
                                .reserved = 39,
                                .wanted = 80,
                                .learning_msec = 5000,
                                .limit = 40 };
    fleet_t shown;

    zone = zone_with(5, 10);
    fleet_view(segment, zone, &shown);
    ck_assert_int_eq(shown.state, FLEET_OFF);
    share_zone(ADM_FALLBACK_KEEP);
    apply(2, HOUR);
    fleet_note(child, zone, &reply);
    fleet_view(segment, zone, &shown);
    ck_assert_int_eq(shown.state, FLEET_LEARNING);
    ck_assert_uint_eq(shown.share, 2);
    ck_assert_uint_eq(shown.reply.granted, 3);
    ck_assert_uint_eq(shown.reply.limit, 40);
    end_lease();
    fleet_view(segment, zone, &shown);
    ck_assert_int_eq(shown.state, FLEET_FALLBACK);
    ck_assert(fleet_has_lapsed(segment, zone));
}

TEST(sharers_of_a_limit_are_shown)
{
    law_fleet_who_t who = {
        .count = 2, .servers = { { .name = "one", .granted = 3 }, { .name = "two", .wanted = 7 } }
    };
    law_fleet_who_t shown;
    adm_usec_t age;

    share_zone(ADM_FALLBACK_KEEP);
    ck_assert(!fleet_engine_servers(segment, zone, &shown, &age));
    memset(who.servers[1].name, 'x', LAW_FLEET_NAME); /* without an end */
    fleet_engine_note_servers(child, zone, &who);
    ck_assert(fleet_engine_servers(segment, zone, &shown, &age));
    ck_assert_uint_eq(shown.count, 2);
    ck_assert_str_eq(shown.servers[0].name, "one");
    ck_assert_uint_eq(shown.servers[0].granted, 3);
    ck_assert_uint_eq(shown.servers[1].wanted, 7);
    ck_assert_uint_eq(strlen(shown.servers[1].name), LAW_FLEET_NAME - 1);
    ck_assert_int_ge(age, 0);

    /* Being written, or by a child that was taken over. */
    fleet_rec_at(segment, zone)->who_sequence++;
    ck_assert(!fleet_engine_servers(segment, zone, &shown, &age));
    who.count = LAW_FLEET_SERVERS + 1;
    fleet_engine_note_servers(child, zone, &who);
    ck_assert(!fleet_engine_servers(segment, zone, &shown, &age));
}

static fleet_self_t self;
static char id[FLEET_ID_ROOM], first_id[FLEET_ID_ROOM];

static const char *id_now(void)
{
    fleet_id(segment, &self, id);
    ck_assert_uint_eq(strlen(id), FLEET_ID_ROOM - 1);
    return id;
}

static void begin_named(void)
{
    share_zone(ADM_FALLBACK_KEEP);
    fleet_begin_self(&self);
    strcpy(first_id, id_now());
}

TEST(a_server_can_take_another_name)
{
    begin_named();
    ck_assert_str_eq(id_now(), first_id);
    fleet_renew_id(segment, &self, -1);
    ck_assert_str_ne(id_now(), first_id);
}

TEST(a_name_that_was_given_up_has_no_successor)
{
    FILE *file = tmpfile();

    begin_named();
    self.fd = fileno(stdin) + 1;
    fputs(first_id, file);
    fflush(file);
    fleet_renew_id(segment, &self, -1);
    ck_assert_str_eq(id_now(), first_id); /* it stays in the file */
    fleet_renew_id(segment, &self, fileno(file));
    ck_assert_int_eq(lseek(fileno(file), 0, SEEK_END), 0);
    ck_assert_str_ne(id_now(), first_id);
    fclose(file);
}

static fleet_engine_t engine;

static const char *engine_state(void)
{
    fleet_engine_view(segment, &engine);
    return fleet_engine_state_name(engine.state);
}

TEST(the_engine_is_counted)
{
    share_zone(ADM_FALLBACK_KEEP);
    ck_assert_str_eq(engine_state(), "off");
    fleet_engine_begin(child, true);
    ck_assert_str_eq(engine_state(), "lost");
    fleet_engine_count(child, FLEET_ENGINE_CONNECT);
    fleet_engine_count_sync(child, 10);
    fleet_engine_count_sync(child, 30);
    fleet_engine_count_sync(child, -5);
    fleet_engine_count(child, FLEET_ENGINE_PUSH);
    ck_assert_str_eq(engine_state(), "connected");
    ck_assert_uint_eq(engine.counts[FLEET_ENGINE_CONNECT], 1);
    ck_assert_uint_eq(engine.counts[FLEET_ENGINE_SYNC], 3);
    ck_assert_uint_eq(engine.counts[FLEET_ENGINE_PUSH], 1);
    ck_assert_int_eq(engine.mean_usec, 40 / 3);
    ck_assert_int_eq(engine.max_usec, 30);
    fleet_engine_count(child, FLEET_ENGINE_ERROR);
    ck_assert_str_eq(engine_state(), "lost");
    fleet_engine_begin(child, false);
    ck_assert_str_eq(engine_state(), "off");
}

TEST(an_agent_that_polls_is_woken)
{
    unsigned before;
    struct pollfd pipe = { .events = POLLIN };

    share_zone(ADM_FALLBACK_KEEP);
    ck_assert_int_eq(adm_agent_open_event(segment), APR_SUCCESS);
    before = adm_agent_wakes(segment);
    pipe.fd = adm_agent_begin_poll(segment, before);
    ck_assert_int_ge(pipe.fd, 0);
    ck_assert_int_eq(poll(&pipe, 1, 0), 0);
    adm_agent_wake(segment);
    ck_assert_int_eq(poll(&pipe, 1, 0), 1);
    adm_agent_end_poll(segment);
    ck_assert_int_eq(poll(&pipe, 1, 0), 0);
    ck_assert_int_eq(adm_agent_begin_poll(segment, before), -1);
    adm_agent_end_poll(segment);
    adm_agent_wake(segment); /* no agent polls */
    ck_assert_int_eq(poll(&pipe, 1, 0), 0);
}

TEST(a_process_that_wakes_the_agent_is_never_blocked)
{
    unsigned n;

    share_zone(ADM_FALLBACK_KEEP);
    ck_assert_int_eq(adm_agent_open_event(segment), APR_SUCCESS);
    for (n = 0; n < 2; n++) {
        ck_assert_int_eq(fcntl(segment->agent_event[n], F_SETFL, 0), 0);
    }
    ck_assert_int_ge(adm_agent_begin_poll(segment, adm_agent_wakes(segment)), 0);
    for (n = 0; n < 10000; n++) {
        adm_agent_wake(segment);
    }
}
