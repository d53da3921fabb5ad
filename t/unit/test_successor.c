/* test_successor.c - a permit moves on to another request. */
#include "core/adm_zone.h"
#include "test_story.h"

/* A, B and C of the story. */
static adm_ticket_t *sender, *waiter, *successor;
static char name[ADM_TICKET_NAME_LENGTH];

/* The sender has the only permit, and another request waits. */
static void begin(void)
{
    tell("zone 1 10; A in; B waits");
    sender = request('A');
    waiter = request('B');
    successor = request('C');
    adm_ticket_name(sender, name);
}

static adm_successor_t inherit(adm_ticket_t *heir)
{
    return adm_successor_take(child, zone, name, story_now, heir);
}

/* The permit has moved to the successor. */
static void begin_with_heir(void)
{
    begin();
    ck_assert_int_eq(inherit(successor), ADM_SUCCESSOR_MOVED);
}

TEST(a_permit_moves_once_and_past_the_queue)
{
    adm_ticket_t other = { 0 };

    begin_with_heir();
    tell("active 1; waiting 1");
    ck_assert_int_eq(inherit(&other), ADM_SUCCESSOR_ENDED);
    tell("A leaves; has C; waiting 1; C leaves; has B");
    ck_assert_int_eq(inherit(&other), ADM_SUCCESSOR_ENDED);
    ck_assert_uint_eq(other.held, 0);
}

TEST(a_name_is_good_while_its_ticket_holds_a_permit)
{
    begin();
    ck_assert_int_eq(inherit(NULL), ADM_SUCCESSOR_KEPT);
    tell("A leaves");
    ck_assert_int_eq(inherit(NULL), ADM_SUCCESSOR_ENDED);
    tell("B leaves; D in");
    ck_assert_int_eq(inherit(NULL), ADM_SUCCESSOR_ENDED);
}

TEST(unknown_names_move_nothing)
{
    static const char *const names[] = { "", ".", "1", "0.0", "x.0", "ffffffff.0", "100000001.0" };
    adm_zone_t other = zone_called("other", 1, 10);
    size_t n;

    begin();
    for (n = 0; n < COUNT(names); n++) {
        ck_assert_int_eq(adm_successor_take(child, other, names[n], story_now, successor),
                         ADM_SUCCESSOR_NONE);
    }
    ck_assert_int_eq(adm_successor_take(child, other, name, story_now, successor),
                     ADM_SUCCESSOR_NONE);
    adm_ticket_name(waiter, name); /* which has no permit yet */
    ck_assert_int_eq(inherit(successor), ADM_SUCCESSOR_ENDED);
    ck_assert_uint_eq(successor->held, 0);
    ck_assert_uint_eq(active_in(zone), 1);
}

TEST(a_permit_stays_with_a_program_that_lives)
{
    pid_t program;

    begin();
    adm_program_announce(sender, ADM_START_HERE);
    program = start_holder(0);
    ck_assert_int_eq(inherit(successor), ADM_SUCCESSOR_KEPT);
    ck_assert_uint_eq(successor->held, 0);
    kill_unnoticed(program);
    ck_assert_int_eq(inherit(NULL), ADM_SUCCESSOR_KEPT);
    ck_assert_int_eq(inherit(successor), ADM_SUCCESSOR_MOVED);
    ck_assert_uint_eq(active_in(zone), 1);
}

/* The programs of its record are those of the request that has the permit now. */
TEST(a_sender_whose_permit_has_moved_holds_none_and_has_no_program)
{
    begin();
    ck_assert(adm_ticket_holds(sender));
    ck_assert_int_eq(inherit(successor), ADM_SUCCESSOR_MOVED);
    ck_assert_uint_eq(successor->idx, sender->idx);
    adm_program_announce(sender, ADM_START_UNSEEN); /* the record is the successor's now */
    ck_assert(!adm_program_was_announced(successor));
    adm_program_announce(successor, ADM_START_UNSEEN);
    ck_assert(!adm_ticket_holds(sender));
    ck_assert(adm_ticket_holds(successor));
    ck_assert(!adm_program_was_announced(sender));
    ck_assert(adm_program_has_ended(sender));
    ck_assert(!adm_program_outlives_request(sender));
    ck_assert(adm_program_was_announced(successor));
    ck_assert(!adm_program_has_ended(successor));
    adm_ticket_release(successor, story_now);
    ck_assert(!adm_ticket_holds(successor));
}

static void leave_while_it_is_locked(adm_ticket_t *ticket)
{
    adm_zone_rec_t *rec = rec_of_zone(zone);

    ck_assert_int_eq(adm_lock_acquire(&rec->lock, NEVER), ADM_LOCKED);
    adm_ticket_release(ticket, story_now);
    adm_zone_unlock(segment, rec, story_now);
}

TEST(a_request_whose_permit_moved_leaves_nothing_to_the_next_owner)
{
    begin_with_heir();
    leave_while_it_is_locked(sender);
    tell("has C; active 1; waiting 1");
}

/* The sender looked whose the record is, found the lock held, was stopped, and goes on when the
 * record is the heir's. Loop test: 1, the heir leaves its own note over the late one. */
TESTS(a_late_note_of_the_sender_takes_nothing_from_the_heir, 0, 2)
{
    begin_with_heir();
    ck_assert_uint_eq(successor->idx, sender->idx);
    atomic_store(&rec_of_ticket(successor)->bell,
                 adm_bell_left(sender->arrival, ADM_LEFT_RELEASED));
    atomic_store(&rec_of_zone(zone)->has_left, 1);
    if (_i) {
        leave_while_it_is_locked(successor);
    }
    adm_round(child, story_now, true);
    ck_assert_int_eq(adm_ticket_is_granted(successor), !_i);
    tell("active 1; waiting %d", !_i);
}

static int inherit_and_stay(void *unused)
{
    adm_child_t *other = join();
    NEED(adm_successor_take(other, zone, name, story_now, successor) == ADM_SUCCESSOR_MOVED);
    return stay();
}

TEST(a_permit_that_moved_to_a_child_that_dies_is_taken_back)
{
    pid_t other;

    begin();
    other = start_to_stay(inherit_and_stay, NULL);
    tell("A leaves; active 1");
    kill_noticed(other);
    tell("round; has B");
}
