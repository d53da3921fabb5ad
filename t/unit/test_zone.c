/* test_zone.c - entering a zone, its queue, and leaving it. */
#include <pthread.h>
#include <signal.h>

#include "core/adm_child.h"
#include "core/adm_zone.h"
#include "test_story.h"

WITH_FLOWS_TOO;

/* ---- permits ------------------------------------------------------------- */

TEST(a_place_that_never_was_a_zone_is_refused)
{
    adm_zone_t nowhere[] = { { 0, 0 }, { 9, 1 }, { UINT32_MAX, 1 } };
    adm_ticket_t ticket;
    unsigned n;

    child = join();
    for (n = 0; n < 3; n++) {
        ck_assert_int_eq(enter(child, nowhere[n], &ticket), ADM_UNLIMITED);
        ck_assert_int_eq(ticket.fault, APR_EINVAL);
        ck_assert_uint_eq(ticket.held, 0);
        leave(&ticket);
    }
}

TEST(a_full_ticket_table_is_reported_and_leaks_nothing)
{
    adm_zone_t one, other;
    adm_ticket_t inside[ADM_CHUNK_TICKETS], one_more;
    adm_server_stats_t stats;

    make_segment(8, 8, 1); /* is rounded up to a chunk */
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

TEST(a_zone_without_free_permit_and_slot_seems_full)
{
    adm_ticket_t inside, waiting;

    stage(1, 1);
    ck_assert(!adm_zone_seems_full(child, zone, 0));
    ck_assert_int_eq(enter(child, zone, &inside), ADM_ADMITTED);
    ck_assert(adm_zone_seems_full(child, zone, 0));
    ck_assert(!adm_zone_seems_full(child, zone, 1));
    ck_assert_int_eq(enter(child, zone, &waiting), ADM_WAITING);
    ck_assert(adm_zone_seems_full(child, zone, 1));
}

/* ---- how long the queue takes ----------------------------------------------- */

STORY(a_rejected_request_gets_the_expected_wait,
      "zone 2 1; serve 1 8ms; AB in; C waits; D full; tells D 8ms");

/* Also those in line whose time is up. */
STORY(before_any_has_ended_the_oldest_tells_how_long_they_take,
      "zone 2 1; A in; wait 6ms; B in; wait 1ms; C waits; wait 1ms; D full; tells D 8ms;"
      "wait 2ms; C timeout; tells C 10ms");

/* Granted, and never begun: the client had left. */
STORY(what_ran_before_the_zone_was_idle_does_not_tell,
      "zone 1 0; A in; wait 1ms; A gone; wait 48ms; B in; wait 3ms; C full; tells C 3ms");

/* ---- dry runs, exempt requests ------------------------------------------- */

STORY(a_dry_run_admits_all_and_counts_what_it_would_have_done,
      "zone 1 2; all dry; A in; BC dry-queued; DE dry-full; has ABCDE; active 5; waiting 0;"
      "queued-max 2; dry-full 2; dry-queued 2; ABCDE leaves; active 0");

STORY(a_dry_run_beyond_the_limit_hands_nothing_over_on_leaving,
      "zone 1 2; dry A in; dry B dry-queued; C waits; A leaves; has B; B leaves; has C");

TEST(an_exempt_request_is_counted_and_takes_nothing)
{
    tell("zone 1 0");
    adm_zone_count_exempt(child, zone);
    adm_zone_count_exempt(child, zone);
    tell("exempt 2; A in");
}

/* ---- giving a permit back -------------------------------------------------- */

static void *leave_in_thread(void *ticket)
{
    leave(ticket);
    return NULL;
}

TEST(of_many_threads_that_give_it_back_the_first_one_counts)
{
    enum { THREADS = 8, PERMITS = 200 };
    static adm_ticket_t inside[PERMITS];
    pthread_t threads[THREADS];
    unsigned round, n;

    stage(PERMITS, 1);
    enter_many(child, zone, inside, PERMITS, ADM_ADMITTED);
    for (round = 0; round < 20; round++) {
        for (n = 0; n < THREADS; n++) {
            pthread_create(&threads[n], NULL, leave_in_thread, &inside[round]);
        }
        for (n = 0; n < THREADS; n++) {
            pthread_join(threads[n], NULL);
        }
        ck_assert_uint_eq(active_in(zone), PERMITS - 1 - round);
    }
}

static int leave_in_fork(void *tickets)
{
    adm_ticket_t *both = tickets;

    leave(&both[0]);
    adm_ticket_cancel(&both[1], ADM_GONE, adm_now());
    NEED(!adm_child_is_self(both[0].child));
    NEED(!adm_child_is_registered_here());
    return 0;
}

TEST(a_forked_process_gives_nothing_back)
{
    adm_ticket_t tickets[2];

    stage(1, 1);
    ck_assert_int_eq(enter(child, zone, &tickets[0]), ADM_ADMITTED);
    ck_assert_int_eq(enter(child, zone, &tickets[1]), ADM_WAITING);
    ck_assert_int_eq(play(leave_in_fork, tickets), 0);
    ck_assert_uint_eq(active_in(zone), 1);
    ck_assert_uint_eq(queued_in(zone), 1);
    leave(&tickets[0]);
    ck_assert(adm_ticket_is_granted(&tickets[1]));
}

/* ---- a handler on top of a critical section ------------------------------ */

static adm_ticket_t held_below;
static volatile sig_atomic_t entered_below, fault_below;

static void clean_up_in_handler(int signal_number)
{
    adm_ticket_t ticket;

    entered_below = enter(child, zone, &ticket);
    fault_below = ticket.fault;
    adm_zone_count_exempt(child, zone);
    adm_round(child, adm_now(), true);
    leave(&held_below);
}

TEST(cleanups_below_a_critical_section_do_nothing)
{
    adm_zone_rec_t *rec;
    apr_status_t rv;

    stage(2, 1);
    ck_assert_int_eq(enter(child, zone, &held_below), ADM_ADMITTED);
    kill_noticed(start_holder(1));
    signal(SIGUSR1, clean_up_in_handler);
    rec = adm_zone_lock(segment, zone.idx, &rv);
    ck_assert_ptr_nonnull(rec);
    raise(SIGUSR1);
    ck_assert_int_eq(entered_below, ADM_UNLIMITED);
    ck_assert_int_eq(fault_below, ADM_INTERRUPTED);
    ck_assert_uint_eq(active_in(zone), 2);
    adm_zone_unlock(segment, rec, adm_now());
    ck_assert_uint_eq(adm_round(child, adm_now(), false), 1);
    ck_assert_uint_eq(stats_of(child, zone).figures.outcomes[ADM_EXEMPT], 0);
}
