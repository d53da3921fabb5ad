/* test_zone.c - entering a zone, and its queue. */
#include <signal.h>

#include "core/adm_zone.h"
#include "test_support.h"

WITH_FLOWS_TOO;

/* ---- permits ------------------------------------------------------------- */

TEST(a_place_that_never_was_a_zone_is_refused)
{
    adm_zone_t nowhere[] = { { 0, 0 }, { 9, 1 }, { UINT32_MAX, 1 } };
    adm_ticket_t ticket;
    adm_child_t *child = join();
    unsigned n;

    for (n = 0; n < 3; n++) {
        ck_assert_int_eq(enter(child, nowhere[n], &ticket), ADM_UNLIMITED);
        ck_assert_int_eq(ticket.fault, APR_EINVAL);
        ck_assert_uint_eq(ticket.held, 0);
        leave(&ticket);
    }
}

TEST(a_full_ticket_table_is_reported_and_leaks_nothing)
{
    adm_zone_t one = zone_with(1000, 0), other = zone_with(1000, 0);
    adm_child_t *child;
    adm_ticket_t inside[ADM_CHUNK_TICKETS], one_more;
    adm_server_stats_t stats;

    make_segment(8, 8, ADM_CHUNK_TICKETS);
    one = zone_called("one", 1000, 0);
    other = zone_called("other", 1000, 0);
    child = join();
    enter_many(child, one, inside, ADM_CHUNK_TICKETS, ADM_ADMITTED);
    ck_assert_int_eq(enter_as(child, other, BLOCKS, adm_now(), &one_more), ADM_UNLIMITED);
    ck_assert_int_eq(one_more.fault, ADM_NO_TICKET);
    leave(&one_more);
    adm_view_server(segment, &stats);
    ck_assert_uint_eq(stats.workers_held, 0);
    ck_assert_uint_eq(active_in(other), 0);
    leave(&inside[7]);
    ck_assert_int_eq(enter(child, one, &inside[7]), ADM_ADMITTED);
    ck_assert_uint_eq(active_in(one), ADM_CHUNK_TICKETS);
}

/* ---- the line ------------------------------------------------------------ */

TEST(a_rejected_request_gets_the_expected_wait)
{
    adm_ticket_t inside[2], waiting, one_more;

    stage(2, 1);
    enter_as(child, zone, HURRIES, 1000, &inside[0]);
    adm_ticket_release(&inside[0], 9000); /* served for 8000 */
    enter_many(child, zone, inside, 2, ADM_ADMITTED);
    ck_assert_int_eq(enter(child, zone, &waiting), ADM_WAITING);
    ck_assert_int_eq(enter(child, zone, &one_more), ADM_FULL);
    ck_assert_uint_eq(one_more.queued_ahead, 1);
    ck_assert_int_eq(one_more.drain_usec, 2 * 8000 / 2);
}

TEST(before_any_has_ended_the_oldest_tells_how_long_they_take)
{
    adm_ticket_t inside[2], waiting, one_more;

    stage(2, 1);
    enter_as(child, zone, HURRIES, 1000, &inside[0]);
    enter_as(child, zone, HURRIES, 7000, &inside[1]);
    enter_as(child, zone, WAITS, 8000, &waiting);
    ck_assert_int_eq(enter_as(child, zone, WAITS, 9000, &one_more), ADM_FULL);
    ck_assert_int_eq(one_more.drain_usec, 2 * 8000 / 2);
    /* Also those in line whose time is up. */
    adm_ticket_cancel(&waiting, ADM_TIMEOUT, 11000);
    ck_assert_int_eq(waiting.drain_usec, 2 * 10000 / 2);
}

TEST(what_ran_before_the_zone_was_idle_does_not_tell)
{
    adm_ticket_t gone, inside, one_more;

    stage(1, 0);
    /* Granted, and never begun: the client had left. */
    enter_as(child, zone, HURRIES, 1000, &gone);
    adm_ticket_cancel(&gone, ADM_GONE, 2000);
    enter_as(child, zone, HURRIES, 50000, &inside);
    ck_assert_int_eq(enter_as(child, zone, HURRIES, 53000, &one_more), ADM_FULL);
    ck_assert_int_eq(one_more.drain_usec, 3000);
}

/* ---- dry runs, exempt requests ------------------------------------------- */

static const adm_entry_t dry_run = { .dry_run = true };

TEST(a_dry_run_admits_all_and_counts_what_it_would_have_done)
{
    adm_ticket_t tickets[5];
    const adm_outcome_t expected[5] = { ADM_ADMITTED, ADM_DRY_QUEUED, ADM_DRY_QUEUED, ADM_DRY_FULL,
                                        ADM_DRY_FULL };
    adm_zone_stats_t stats;
    unsigned n;

    stage(1, 2);
    for (n = 0; n < 5; n++) {
        ck_assert_int_eq(enter_as(child, zone, dry_run, adm_now(), &tickets[n]), expected[n]);
        ck_assert(adm_ticket_is_granted(&tickets[n]));
    }
    stats = stats_of(child, zone);
    ck_assert_uint_eq(stats.active, 5);
    ck_assert_uint_eq(stats.queued, 0);
    ck_assert_uint_eq(stats.figures.queued_max, 2);
    ck_assert_uint_eq(stats.figures.outcomes[ADM_DRY_FULL], 2);
    ck_assert_uint_eq(stats.figures.outcomes[ADM_DRY_QUEUED], 2);
    for (n = 0; n < 5; n++) {
        leave(&tickets[n]);
    }
    ck_assert_uint_eq(active_in(zone), 0);
}

TEST(a_dry_run_beyond_the_limit_hands_nothing_over_on_leaving)
{
    adm_ticket_t dry[2], waiting;

    stage(1, 2);
    enter_as(child, zone, dry_run, adm_now(), &dry[0]);
    enter_as(child, zone, dry_run, adm_now(), &dry[1]);
    ck_assert_int_eq(enter(child, zone, &waiting), ADM_WAITING);
    leave(&dry[0]);
    ck_assert(!adm_ticket_is_granted(&waiting));
    leave(&dry[1]);
    ck_assert(adm_ticket_is_granted(&waiting));
}

TEST(an_exempt_request_is_counted_and_takes_nothing)
{
    adm_ticket_t ticket;

    stage(1, 0);
    adm_zone_count_exempt(child, zone);
    adm_zone_count_exempt(child, zone);
    ck_assert_uint_eq(stats_of(child, zone).figures.outcomes[ADM_EXEMPT], 2);
    ck_assert_int_eq(enter(child, zone, &ticket), ADM_ADMITTED);
}

/* ---- a handler on top of a critical section ------------------------------ */

static adm_ticket_t *held_below;
static adm_zone_t zone_below;
static adm_child_t *child_below;
static volatile sig_atomic_t entered_below, fault_below;

static void clean_up_in_handler(int signal_number)
{
    adm_ticket_t ticket;

    entered_below = enter(child_below, zone_below, &ticket);
    fault_below = ticket.fault;
    adm_zone_count_exempt(child_below, zone_below);
    adm_round(child_below, adm_now(), true);
    leave(held_below);
}

TEST(cleanups_below_a_critical_section_do_nothing)
{
    adm_ticket_t ticket;
    adm_zone_rec_t *rec;
    apr_status_t rv;

    zone_below = zone_with(1, 1);
    child_below = join();
    held_below = &ticket;
    ck_assert_int_eq(enter(child_below, zone_below, &ticket), ADM_ADMITTED);
    signal(SIGUSR1, clean_up_in_handler);

    rec = adm_zone_lock(segment, zone_below.idx, &rv);
    ck_assert_ptr_nonnull(rec);
    raise(SIGUSR1);
    ck_assert_int_eq(entered_below, ADM_UNLIMITED);
    ck_assert_int_eq(fault_below, ADM_INTERRUPTED);
    ck_assert_uint_eq(active_in(zone_below), 1);
    adm_zone_unlock(segment, rec, adm_now());
    ck_assert_uint_eq(stats_of(child_below, zone_below).figures.outcomes[ADM_EXEMPT], 0);
}
