/* test_override.c - what an administrator says while the server runs. */
#include "test_support.h"

#define LENGTH 3

static adm_ticket_t tickets[8];

static const adm_override_t keeps = { .limit = ADM_OVERRIDE_KEEP,
                                      .queue_length = ADM_OVERRIDE_KEEP,
                                      .mode = ADM_OVERRIDE_KEEP };

static void make_zone(uint32_t limit)
{
    zone = zone_called("site", limit, LENGTH);
    child = join();
}

/* What held before. */
static adm_override_t say(adm_override_t wanted)
{
    adm_override_t before, after;

    ck_assert_int_eq(adm_override_set(child, zone, &wanted, adm_now(), &before, &after),
                     APR_SUCCESS);
    if (wanted.limit < ADM_OVERRIDE_KEEP) {
        ck_assert_uint_eq(after.limit, wanted.limit);
    }
    if (wanted.mode < ADM_OVERRIDE_KEEP) {
        ck_assert_uint_eq(after.mode, wanted.mode);
    }
    return before;
}

static adm_override_t say_limit(uint32_t limit)
{
    adm_override_t wanted = keeps;

    wanted.limit = limit;
    return say(wanted);
}

static adm_override_t say_queue(uint32_t length)
{
    adm_override_t wanted = keeps;

    wanted.queue_length = length;
    return say(wanted);
}

static adm_override_t say_mode(adm_mode_t mode)
{
    adm_override_t wanted = keeps;

    wanted.mode = mode;
    return say(wanted);
}

static adm_outcome_t come(adm_ticket_t *ticket)
{
    return enter_as(child, zone, (adm_entry_t){ .wait = ADM_WAIT_PARKED, .queue_length = LENGTH },
                    adm_now(), ticket);
}

static void come_many(adm_ticket_t *first, unsigned count, adm_outcome_t expected)
{
    unsigned i;

    for (i = 0; i < count; i++) {
        first[i] = (adm_ticket_t){ 0 };
        ck_assert_int_eq(come(&first[i]), expected);
    }
}

TEST(a_raised_limit_is_handed_out_immediately)
{
    adm_override_t before;

    make_zone(1);
    come_many(tickets, 1, ADM_ADMITTED);
    come_many(tickets + 1, 3, ADM_WAITING);
    before = say_limit(3);
    ck_assert_uint_eq(before.limit, 1);
    ck_assert_uint_eq(active_in(zone), 3);
    ck_assert_uint_eq(queued_in(zone), 1);
    ck_assert(adm_ticket_is_granted(&tickets[2]));
    ck_assert_uint_eq(stats_of(child, zone).limit, 3);
    ck_assert_uint_eq(stats_of(child, zone).limit_configured, 1);
    ck_assert(stats_of(child, zone).is_overridden);
}

TEST(a_limit_below_what_runs_takes_nothing_away)
{
    make_zone(3);
    come_many(tickets, 3, ADM_ADMITTED);
    say_limit(1);
    ck_assert_uint_eq(active_in(zone), 3);
    come_many(tickets + 3, 1, ADM_WAITING);
    leave(&tickets[0]);
    leave(&tickets[1]);
    ck_assert(!adm_ticket_is_granted(&tickets[3]));
    leave(&tickets[2]);
    ck_assert(adm_ticket_is_granted(&tickets[3]));
}

TEST(the_queue_has_the_length_set_last)
{
    make_zone(1);
    come_many(tickets, 1, ADM_ADMITTED);
    ck_assert_uint_eq(say_queue(1).queue_length, LENGTH);
    come_many(tickets + 1, 1, ADM_WAITING);
    come_many(tickets + 2, 1, ADM_FULL);
    ck_assert_uint_eq(stats_of(child, zone).queue_length, 1);
    ck_assert_uint_eq(say_queue(ADM_OVERRIDE_NONE).queue_length, 1);
    come_many(tickets + 2, 2, ADM_WAITING);
    come_many(tickets + 4, 1, ADM_FULL);
    ck_assert(!stats_of(child, zone).is_overridden);
    say_queue(0);
    come_many(tickets + 4, 1, ADM_FULL);
}

TEST(a_paused_zone_gives_no_permit_until_it_is_open)
{
    make_zone(2);
    say_mode(ADM_MODE_PAUSE);
    ck_assert_int_eq(stats_of(child, zone).mode, ADM_MODE_PAUSE);
    come_many(tickets, 3, ADM_WAITING);
    ck_assert_uint_eq(say_mode(ADM_MODE_OPEN).mode, ADM_MODE_PAUSE);
    ck_assert(adm_ticket_is_granted(&tickets[1]));
    ck_assert(!adm_ticket_is_granted(&tickets[2]));
}

TEST(a_drained_zone_serves_waiting_and_rejects_new_requests)
{
    make_zone(1);
    come_many(tickets, 1, ADM_ADMITTED);
    come_many(tickets + 1, 1, ADM_WAITING);
    say_mode(ADM_MODE_DRAIN);
    come_many(tickets + 2, 1, ADM_DRAIN);
    ck_assert_int_eq(tickets[2].drain_usec, 30 * ADM_USEC_PER_SEC);
    leave(&tickets[0]);
    ck_assert(adm_ticket_is_granted(&tickets[1]));
    leave(&tickets[1]);
    come_many(tickets + 2, 1, ADM_DRAIN);
    ck_assert_uint_eq(stats_of(child, zone).figures.outcomes[ADM_DRAIN], 2);
    say_mode(ADM_MODE_OPEN);
    come_many(tickets + 2, 1, ADM_ADMITTED);
}

TEST(an_edited_number_ends_an_override_and_no_other_load_does)
{
    make_zone(2);
    say_limit(4);
    say_mode(ADM_MODE_DRAIN);
    zone_called("site", 2, LENGTH);
    ck_assert_uint_eq(stats_of(child, zone).limit, 4);
    ck_assert_int_eq(stats_of(child, zone).mode, ADM_MODE_DRAIN);
    zone_called("site", 3, LENGTH);
    ck_assert_uint_eq(stats_of(child, zone).limit, 3);
    ck_assert(!stats_of(child, zone).is_overridden);
    say_limit(4);
    zone_called("site", 3, LENGTH + 1);
    ck_assert_uint_eq(stats_of(child, zone).limit, 3);
}

TEST(the_configured_limit_can_be_had_again)
{
    make_zone(2);
    say_limit(4);
    ck_assert_uint_eq(say_limit(ADM_OVERRIDE_NONE).limit, 4);
    ck_assert_uint_eq(stats_of(child, zone).limit, 2);
    ck_assert(!stats_of(child, zone).is_overridden);
}

TEST(a_removed_zone_accepts_no_overrides)
{
    adm_override_t before, after, wanted = keeps;
    adm_zone_t gone;

    make_zone(2);
    gone = zone;
    gone.incarnation++;
    wanted.limit = 4;
    ck_assert_int_eq(adm_override_set(child, gone, &wanted, adm_now(), &before, &after),
                     ADM_ZONE_RETIRED);
    ck_assert_uint_eq(stats_of(child, zone).limit, 2);
}

TEST(an_unknown_mode_of_a_torn_segment_is_open)
{
    make_zone(2);
    say_mode(ADM_MODE_DRAIN);
    is_spoilt = true;
    atomic_store(&rec_of_zone(zone)->mode, 77);
    ck_assert_int_eq(stats_of(child, zone).mode, ADM_MODE_OPEN);
    come_many(tickets, 1, ADM_ADMITTED);
    ck_assert_ptr_nonnull(adm_check(segment));
}
