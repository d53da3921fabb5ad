/* test_successor.c - a permit moves on to another request. */
#include "core/adm_zone.h"
#include "test_support.h"

static adm_ticket_t sender, waiter, successor;
static char name[ADM_TICKET_NAME_LENGTH];

/* The sender has the only permit, and another request waits. */
static void begin(void)
{
    zone = zone_called("zone", 1, 10);
    child = join();
    successor = (adm_ticket_t){ 0 };
    ck_assert_int_eq(enter(child, zone, &sender), ADM_ADMITTED);
    ck_assert_int_eq(enter(child, zone, &waiter), ADM_WAITING);
    adm_ticket_name(&sender, name);
}

static adm_successor_t inherit(adm_ticket_t *heir)
{
    return adm_successor_take(child, zone, name, adm_now(), heir);
}

/* The permit has moved to the successor. */
static void begin_with_heir(void)
{
    begin();
    ck_assert_int_eq(inherit(&successor), ADM_SUCCESSOR_MOVED);
}

TEST(a_permit_moves_past_the_queue)
{
    begin_with_heir();
    ck_assert_uint_eq(active_in(zone), 1);
    ck_assert_uint_eq(queued_in(zone), 1);
    ck_assert(!adm_ticket_is_granted(&waiter));
    ck_assert(adm_ticket_is_granted(&successor));
    leave(&sender); /* has none any more */
    ck_assert_uint_eq(active_in(zone), 1);
    ck_assert(!adm_ticket_is_granted(&waiter));
    leave(&successor);
    ck_assert(adm_ticket_is_granted(&waiter));
}

TEST(a_permit_moves_once)
{
    adm_ticket_t other = { 0 };

    begin_with_heir();
    ck_assert_int_eq(inherit(&other), ADM_SUCCESSOR_ENDED);
    leave(&successor);
    ck_assert_int_eq(inherit(&other), ADM_SUCCESSOR_ENDED);
    ck_assert_uint_eq(other.held, 0);
    ck_assert_uint_eq(active_in(zone), 1);
}

TEST(a_name_is_good_while_its_ticket_holds_a_permit)
{
    adm_ticket_t next;

    begin();
    ck_assert_int_eq(inherit(NULL), ADM_SUCCESSOR_KEPT);
    leave(&sender);
    ck_assert_int_eq(inherit(NULL), ADM_SUCCESSOR_ENDED);
    leave(&waiter);
    ck_assert_int_eq(enter(child, zone, &next), ADM_ADMITTED);
    ck_assert_int_eq(inherit(NULL), ADM_SUCCESSOR_ENDED);
}

TEST(unknown_names_move_nothing)
{
    static const char *const names[] = { "", ".", "1", "0.0", "x.0", "ffffffff.0", "100000001.0" };
    adm_zone_t other = zone_called("other", 1, 10);
    size_t n;

    begin();
    for (n = 0; n < COUNT(names); n++) {
        ck_assert_int_eq(adm_successor_take(child, other, names[n], adm_now(), &successor),
                         ADM_SUCCESSOR_NONE);
    }
    ck_assert_int_eq(adm_successor_take(child, other, name, adm_now(), &successor),
                     ADM_SUCCESSOR_NONE);
    adm_ticket_name(&waiter, name); /* which has no permit yet */
    ck_assert_int_eq(inherit(&successor), ADM_SUCCESSOR_ENDED);
    ck_assert_uint_eq(successor.held, 0);
    ck_assert_uint_eq(active_in(zone), 1);
}

static int live_on(void *unused)
{
    return stay();
}

TEST(a_permit_stays_with_a_program_that_lives)
{
    pid_t program;

    begin();
    adm_program_announce(&sender, ADM_START_HERE);
    program = start_to_stay(live_on, NULL);
    ck_assert_int_eq(inherit(&successor), ADM_SUCCESSOR_KEPT);
    ck_assert_uint_eq(successor.held, 0);
    kill_unnoticed(program);
    ck_assert_int_eq(inherit(NULL), ADM_SUCCESSOR_KEPT);
    ck_assert_int_eq(inherit(&successor), ADM_SUCCESSOR_MOVED);
    ck_assert_uint_eq(active_in(zone), 1);
}

/* The programs of its record are those of the request that has the permit now. */
TEST(a_sender_whose_permit_has_moved_holds_none_and_has_no_program)
{
    begin();
    ck_assert(adm_ticket_holds(&sender));
    ck_assert_int_eq(inherit(&successor), ADM_SUCCESSOR_MOVED);
    ck_assert_uint_eq(successor.idx, sender.idx);
    adm_program_announce(&sender, ADM_START_UNSEEN); /* the record is the successor's now */
    ck_assert(!adm_program_was_announced(&successor));
    adm_program_announce(&successor, ADM_START_UNSEEN);
    ck_assert(!adm_ticket_holds(&sender));
    ck_assert(adm_ticket_holds(&successor));
    ck_assert(!adm_program_was_announced(&sender));
    ck_assert(adm_program_has_ended(&sender));
    ck_assert(!adm_program_outlives_request(&sender));
    ck_assert(adm_program_was_announced(&successor));
    ck_assert(!adm_program_has_ended(&successor));
    adm_ticket_release(&successor, adm_now());
    ck_assert(!adm_ticket_holds(&successor));
}

static void leave_while_it_is_locked(adm_ticket_t *ticket)
{
    adm_zone_rec_t *rec = rec_of_zone(zone);

    ck_assert_int_eq(adm_lock_acquire(&rec->lock, NEVER), ADM_LOCKED);
    leave(ticket);
    adm_zone_unlock(segment, rec, adm_now());
}

TEST(a_request_whose_permit_moved_leaves_nothing_to_the_next_owner)
{
    begin_with_heir();
    leave_while_it_is_locked(&sender);
    ck_assert_uint_eq(active_in(zone), 1);
    ck_assert(!adm_ticket_is_granted(&waiter));
}

/* The sender looked whose the record is, found the lock held, was stopped, and
 * goes on when the record is the successor's. */
static void note_late(void)
{
    begin_with_heir();
    ck_assert_uint_eq(successor.idx, sender.idx);
    atomic_store(&rec_of_ticket(&successor)->bell,
                 adm_bell_left(sender.arrival, ADM_LEFT_RELEASED));
    atomic_store(&rec_of_zone(zone)->has_left, 1);
}

TEST(a_late_note_of_the_sender_takes_nothing_from_the_heir)
{
    note_late();
    adm_round(child, adm_now(), true);
    ck_assert_uint_eq(active_in(zone), 1);
    ck_assert(adm_ticket_is_granted(&successor));
    ck_assert(!adm_ticket_is_granted(&waiter));
}

TEST(the_heir_leaves_its_own_note_over_a_late_one)
{
    note_late();
    leave_while_it_is_locked(&successor);
    adm_round(child, adm_now(), true);
    ck_assert(adm_ticket_is_granted(&waiter));
}

static int inherit_and_stay(void *unused)
{
    adm_child_t *other = join();
    NEED(adm_successor_take(other, zone, name, adm_now(), &successor) == ADM_SUCCESSOR_MOVED);
    return stay();
}

TEST(a_permit_that_moved_to_a_child_that_dies_is_taken_back)
{
    pid_t other;

    begin();
    other = start_to_stay(inherit_and_stay, NULL);
    leave(&sender);
    ck_assert_uint_eq(active_in(zone), 1);
    kill_noticed(other);
    adm_round(child, adm_now(), true);
    ck_assert(adm_ticket_is_granted(&waiter));
}
