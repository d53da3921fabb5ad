/* test_turn.c - whose turn it is: keys, priorities, costs. */
#include <string.h>

#include "test_keys.h"

#include "core/adm_pool.h"

/* ---- turns ---------------------------------------------------------------- */

TEST(new_keys_and_others_take_turns)
{
    begin(1);
    come(1, 0, 1, ADM_ADMITTED);
    come(1, 1, 3, ADM_WAITING);
    come(2, 4, 2, ADM_WAITING);
    come(3, 6, 1, ADM_WAITING);
    come(4, 7, 1, ADM_WAITING);
    assert_follows(0, 4); /* the first that was new */
    /* Two others, the first of which waits since it gave its permit back. */
    assert_follows(4, 1);
    assert_follows(1, 6);
    assert_follows(6, 5);
    assert_follows(5, 7);
    assert_follows(7, 2);
    assert_follows(2, 3);
}

/* ---- priorities ------------------------------------------------------------ */

static adm_entry_t entry_with(uint64_t key, adm_priority_t priority)
{
    adm_entry_t entry = entry_of(key);

    entry.priority = priority;
    return entry;
}

/* Two wait of each, so that none is away while one of them runs. */
enum { RUNS_NOW = 6 };

static void come_again(const adm_priority_t of[3], uint32_t n)
{
    ck_assert_int_eq(come_as(entry_with(n + 1, of[n / 2]), n), ADM_WAITING);
}

/* One runs after the other, and comes again. @a served: how often by priority. */
static void serve(uint32_t turns, const adm_priority_t of[3], uint32_t served[ADM_PRIORITIES])
{
    uint32_t n, turn;

    come(9, RUNS_NOW, 1, ADM_ADMITTED);
    for (n = 0; n < RUNS_NOW; n++) {
        come_again(of, n);
    }
    for (turn = 0; turn < turns; turn++) {
        leave(&tickets[RUNS_NOW]);
        for (n = 0; n < RUNS_NOW && !is_granted(n); n++) {
        }
        ck_assert_uint_lt(n, RUNS_NOW);
        ck_assert(adm_ticket_begin(&tickets[n], adm_now()));
        served[of[n / 2]]++;
        tickets[RUNS_NOW] = tickets[n];
        come_again(of, n);
        ck_assert_ptr_null(adm_check(segment));
    }
}

TEST(priorities_are_served_as_16_to_4_to_1)
{
    const adm_priority_t of[] = { ADM_PRIORITY_LOW, ADM_PRIORITY_NORMAL, ADM_PRIORITY_HIGH };
    uint32_t served[ADM_PRIORITIES] = { 0 };

    begin(1);
    serve(210, of, served);
    ck_assert_uint_eq(served[ADM_PRIORITY_HIGH], 160);
    ck_assert_uint_eq(served[ADM_PRIORITY_NORMAL], 40);
    ck_assert_uint_eq(served[ADM_PRIORITY_LOW], 10);
}

/* High ones come when low ones have been served for long, and the reverse. */
TEST(a_priority_that_did_not_wait_gets_no_credit)
{
    const adm_priority_t low[] = { ADM_PRIORITY_LOW, ADM_PRIORITY_LOW, ADM_PRIORITY_LOW };
    const adm_priority_t both[] = { ADM_PRIORITY_LOW, ADM_PRIORITY_LOW, ADM_PRIORITY_HIGH };
    uint32_t served[ADM_PRIORITIES] = { 0 };
    uint32_t n;

    begin(1);
    serve(50, low, served);
    ck_assert_int_eq(come_as(entry_with(20, ADM_PRIORITY_HIGH), 20), ADM_WAITING);
    ck_assert_int_eq(come_as(entry_with(21, ADM_PRIORITY_HIGH), 21), ADM_WAITING);
    assert_follows(RUNS_NOW, 20);
    leave(&tickets[20]);
    ck_assert(!is_granted(21)); /* a low one has its turn */
    for (n = 0; n < RUNS_NOW; n++) {
        adm_ticket_cancel(&tickets[n], ADM_GONE, adm_now());
        leave(&tickets[n]);
    }
    leave(&tickets[21]);
    ck_assert_uint_eq(active_in(zone), 0);
    memset(served, 0, sizeof(served));
    serve(34, both, served);
    ck_assert_uint_eq(served[ADM_PRIORITY_HIGH], 32);
    ck_assert_uint_eq(served[ADM_PRIORITY_LOW], 2);
}

TEST(a_key_waits_with_several_priorities)
{
    begin(1);
    come(1, 0, 1, ADM_ADMITTED);
    come(1, 1, 2, ADM_WAITING);
    ck_assert_int_eq(come_as(entry_with(1, ADM_PRIORITY_HIGH), 3), ADM_WAITING);
    ck_assert_int_eq(come_as(entry_with(1, ADM_PRIORITY_LOW), 4), ADM_WAITING);
    assert_follows(0, 3);
    assert_follows(3, 1);
    assert_follows(1, 4);
    assert_follows(4, 2);
}

/* ---- costs ----------------------------------------------------------------- */

static adm_entry_t entry_that_costs(uint64_t key, uint32_t cost)
{
    adm_entry_t entry = entry_of(key);

    entry.cost = cost;
    return entry;
}

TEST(silent_winners_make_room_for_a_dear_request)
{
    adm_child_t *other;
    uint32_t n;

    begin(2);
    other = join();
    come(1, 0, 2, ADM_ADMITTED);
    come(2, 2, 1, ADM_WAITING);
    come(3, 3, 1, ADM_WAITING);
    for (n = 2; n < 4; n++) {
        adm_ticket_park(&tickets[n], n);
    }
    ck_assert_int_eq(enter_as(other, zone, entry_that_costs(4, 2), adm_now(), &tickets[4]),
                     ADM_WAITING);
    adm_ticket_park(&tickets[4], 4);
    leave(&tickets[0]);
    leave(&tickets[1]);
    ck_assert(is_granted(2) && is_granted(3));
    adm_lease_look(other, zone, adm_now() + 10 * ADM_LEASE_USEC);
    ck_assert(is_granted(4));
    ck_assert(!is_granted(2) && !is_granted(3));
    ck_assert_uint_eq(active_in(zone), 2);
}

TEST(a_dry_run_counts_costs)
{
    adm_entry_t dear = entry_that_costs(1, 3);

    begin(4);
    dear.dry_run = true;
    ck_assert_int_eq(come_as(dear, 0), ADM_ADMITTED);
    /* One permit is free; it asks for three. */
    ck_assert_int_eq(come_as(dear, 1), ADM_DRY_QUEUED);
    ck_assert_int_eq(come_as(dear, 2), ADM_DRY_QUEUED);
    ck_assert_uint_eq(active_in(zone), 9);
    leave(&tickets[0]);
    leave(&tickets[1]);
    leave(&tickets[2]);
    ck_assert_uint_eq(active_in(zone), 0);
}
