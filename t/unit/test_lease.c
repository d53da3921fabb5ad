/* test_lease.c - permits that are handed over and not used. */
#include "test_hand_over.h"

WITH_FLOWS_TOO;

/* ---- the lease ----------------------------------------------------------- */

TEST(a_permit_that_is_not_used_is_passed_on_when_its_lease_is_over)
{
    make_children();
    park_in(one, 0);
    park_in(two, 1);
    hand_over();
    assert_permit_is_with(0);
    look_after(LEASE - 1);
    assert_permit_is_with(0);
    look_after(LEASE);
    assert_permit_is_with(1);
    ck_assert_uint_eq(queued_in(zone), 1);
    ck_assert_uint_eq(passed_on(), 1);
    ck_assert(!adm_ticket_begin(&waiting[0], granted_at + LEASE));
    ck_assert(adm_ticket_begin(&waiting[1], granted_at + LEASE));
}

TEST(a_permit_that_is_used_stays)
{
    make_children();
    park_in(one, 0);
    park_in(two, 1);
    hand_over();
    ck_assert(adm_ticket_begin(&waiting[0], granted_at));
    look_after(100 * LEASE);
    assert_permit_is_with(0);
    ck_assert_uint_eq(passed_on(), 0);
    leave(&waiting[0]);
    assert_permit_is_with(1);
}

TEST(a_permit_that_no_other_waiter_can_use_stays)
{
    make_children();
    park_in(one, 0);
    park_in(one, 1);
    hand_over();
    look_after(LEASE);
    assert_permit_is_with(0);
    look_after(10 * LEASE);
    assert_permit_is_with(0);
    ck_assert_uint_eq(passed_on(), 0);
    ck_assert(adm_ticket_begin(&waiting[0], adm_now()));
}

TEST(a_later_request_that_can_run_gets_it_immediately)
{
    adm_ticket_t later;

    make_children();
    park_in(one, 0);
    hand_over();
    ck_assert_int_eq(enter_as(two, zone, WAITS, granted_at + LEASE, &later), ADM_WAITING);
    ck_assert(adm_ticket_is_granted(&later));
    ck_assert(!adm_ticket_is_granted(&waiting[0]));
}

TEST(any_visit_of_the_zone_passes_it_on)
{
    make_children();
    park_in(one, 0);
    park_in(two, 1);
    park_in(two, 2);
    hand_over();
    adm_ticket_cancel(&waiting[2], ADM_GONE, granted_at + LEASE);
    waiting[2].child = NULL;
    assert_permit_is_with(1);
}

TEST(where_winners_are_late_leases_are_longer)
{
    adm_usec_t time;

    make_children();
    park_in(one, 0);
    park_in(two, 1);
    hand_over();
    look_after(LEASE);
    assert_permit_is_with(1);
    adm_child_note_room(one, true);
    time = LEASE + 2 * LEASE;
    look_after(time - 1);
    assert_permit_is_with(1);
    look_after(time);
    assert_permit_is_with(0);
    adm_child_note_room(two, true);
    time += 3 * LEASE;
    look_after(time - 1);
    assert_permit_is_with(0);
    ck_assert(adm_ticket_begin(&waiting[0], granted_at + time));
    adm_ticket_release(&waiting[0], granted_at + time);
    adm_child_note_room(one, true);
    park_in(one, 0);
    look_after(time + LEASE);
    assert_permit_is_with(0);
    ck_assert_uint_eq(passed_on(), 3);
}

TEST(beyond_a_lowered_limit_nothing_is_handed_on)
{
    make_children();
    park_in(one, 0);
    park_in(two, 1);
    hand_over();
    zone_called("busy", 0, 10);
    look_after(LEASE);
    ck_assert(!adm_ticket_is_granted(&waiting[0]));
    ck_assert(!adm_ticket_is_granted(&waiting[1]));
    ck_assert_uint_eq(active_in(zone), 0);
}

/* ---- order --------------------------------------------------------------- */

TEST(a_request_that_lost_its_permit_keeps_its_position)
{
    make_children();
    park_in(one, 0);
    park_in(two, 1);
    park_in(two, 2);
    hand_over();
    look_after(LEASE);
    assert_permit_is_with(1);
    adm_ticket_unpark(&waiting[0]); /* a worker comes, too late */
    ck_assert(!adm_ticket_begin(&waiting[0], adm_now()));
    adm_ticket_park(&waiting[0], 0);
    leave(&waiting[1]);
    assert_permit_is_with(0);
}

TEST(a_silent_child_wins_nothing_while_another_can_run)
{
    make_children();
    park_in(one, 0);
    park_in(one, 1);
    park_in(two, 2);
    park_in(two, 3);
    hand_over();
    look_after(LEASE);
    assert_permit_is_with(2);
    leave(&waiting[2]);
    waiting[2].child = NULL;
    assert_permit_is_with(3);
    leave(&waiting[3]);
    waiting[3].child = NULL;
    assert_permit_is_with(0);
    ck_assert_uint_eq(passed_on(), 1);
}

TEST(several_that_lost_their_permits_wait_in_their_order)
{
    adm_ticket_t too;

    make_children();
    park_in(one, 0);
    park_in(one, 1);
    park_in(one, 2);
    zone_called("busy", 3, 10);
    look_after(0);
    hand_over();
    ck_assert_uint_eq(active_in(zone), 3);
    ck_assert_int_eq(enter(two, zone, &too), ADM_WAITING);
    ck_assert_int_eq(enter(two, zone, &waiting[3]), ADM_WAITING);
    look_after(LEASE);
    ck_assert_uint_eq(passed_on(), 2);
    ck_assert_uint_eq(active_in(zone), 3);
    ck_assert_uint_eq(queued_in(zone), 2);
    ck_assert(adm_ticket_is_granted(&too));
    ck_assert(adm_ticket_is_granted(&waiting[3]));
}

/* ---- who can run --------------------------------------------------------- */

TEST(a_child_that_is_full_is_passed_over)
{
    make_children();
    park_in(one, 0);
    park_in(two, 1);
    adm_child_note_room(one, false);
    hand_over();
    assert_permit_is_with(1);
    ck_assert_uint_eq(passed_on(), 0);
}

TEST(a_full_child_passes_its_permit_on_immediately)
{
    make_children();
    park_in(one, 0);
    park_in(two, 1);
    hand_over();
    adm_child_note_room(one, false);
    adm_lease_look(one, zone, granted_at + 1);
    assert_permit_is_with(1);
    ck_assert_uint_eq(passed_on(), 1);
}

TEST(a_blocked_request_of_a_full_child_can_run)
{
    make_children();
    park_in(one, 0);
    wait_in(one, 1);
    park_in(two, 2);
    adm_child_note_room(one, false);
    adm_child_note_room(two, false);
    hand_over();
    assert_permit_is_with(1);
}

TEST(a_full_child_is_better_than_a_silent_one)
{
    make_children();
    park_in(one, 0);
    park_in(two, 1);
    hand_over();
    look_after(LEASE);
    assert_permit_is_with(1);
    adm_child_note_room(two, false);
    park_in(two, 2);
    leave(&waiting[1]);
    waiting[1].child = NULL;
    assert_permit_is_with(2);
}

TEST(a_child_that_has_room_again_gets_the_permit_that_stands_idle)
{
    make_children();
    park_in(one, 0);
    park_in(two, 1);
    adm_child_note_room(two, false);
    hand_over();
    look_after(LEASE);
    assert_permit_is_with(0); /* neither can run */
    adm_ticket_unpark(&waiting[1]);
    ck_assert(adm_ticket_begin(&waiting[1], granted_at + LEASE));
    assert_permit_is_with(1);
}

/* ---- who notices --------------------------------------------------------- */

static uint32_t rung(adm_child_t *child)
{
    uint32_t slots[ADM_CHUNK_TICKETS] = { 0 };
    uint32_t count = adm_doorbell_wait(child, at_once, NULL, slots, 64);

    ck_assert_uint_le(count, 1);
    return count ? slots[0] : UINT32_MAX;
}

TEST(another_childs_dispatcher_is_rung_for_a_grant)
{
    make_children();
    park_in(one, 0);
    park_in(one, 1);
    park_in(two, 2);
    hand_over();
    ck_assert_uint_eq(rung(one), 0);
    ck_assert_uint_eq(rung(two), 2);
}

TEST(a_guard_is_rung_once_per_lease)
{
    make_children();
    park_in(one, 0);
    park_in(one, 1);
    park_in(two, 2);
    hand_over();
    ck_assert_uint_eq(rung(two), 2);
    ck_assert(adm_ticket_begin(&waiting[0], granted_at));
    adm_ticket_release(&waiting[0], granted_at + LEASE / 2);
    ck_assert(adm_ticket_is_granted(&waiting[1]));
    ck_assert_uint_eq(rung(two), UINT32_MAX);
}

TEST(a_guard_checks_until_another_would_be_rung)
{
    adm_usec_t until;

    make_children();
    park_in(one, 0);
    park_in(one, 1);
    park_in(two, 2);
    hand_over();
    ck_assert(adm_ticket_begin(&waiting[0], granted_at));
    ck_assert_uint_eq(active_in(zone), 1);
    passed_on(); /* settles it */
    ck_assert_int_eq(rec_of_zone(zone)->lease_until, 0);
    until = adm_lease_look(two, zone, granted_at + 1);
    ck_assert_int_eq(until, rec_of_zone(zone)->guarded_until);
    ck_assert_int_gt(until, granted_at);
    ck_assert_int_eq(adm_lease_look(two, zone, until), 0);
}

TEST(a_request_that_parks_during_a_grant_becomes_its_guard)
{
    make_children();
    park_in(one, 0);
    hand_over();
    park_in(two, 1);
    ck_assert_uint_eq(rung(two), 1);
}

TEST(one_is_enough_and_not_of_the_winners_child)
{
    make_children();
    park_in(one, 0);
    hand_over();
    park_in(one, 1);
    ck_assert_uint_eq(rung(one), 0); /* of the grant */
    ck_assert_uint_eq(rung(one), UINT32_MAX);
    park_in(two, 2);
    ck_assert_uint_eq(rung(two), 2);
    park_in(two, 3);
    ck_assert_uint_eq(rung(two), UINT32_MAX);
}

static int block_and_leave(void *unused)
{
    adm_child_t *child = join();
    adm_ticket_t ticket;

    if (enter_as(child, zone, BLOCKS, adm_now(), &ticket) != ADM_WAITING
        || wait_until(&ticket, adm_now() + 10 * ADM_USEC_PER_SEC) != ADM_WAITED) {
        return 1;
    }
    leave(&ticket);
    return 0;
}

TEST(a_blocked_waiter_checks_leases_itself)
{
    pid_t other;

    set_worker_cap(10);
    make_children();
    park_in(one, 0);
    other = start(block_and_leave, NULL);
    WAIT_FOR(queued_in(zone) == 2);
    hand_over();
    ck_assert_int_eq(end_of(other), 0);
    ck_assert(adm_ticket_is_granted(&waiting[0]));
}
