/* test_flow.c - what a zone knows of its keys. */
#include <sys/mman.h>
#include <unistd.h>

#include "test_keys.h"

#include "core/adm_pool.h"
#include "fair/fair_ring.h"

/* ---- places --------------------------------------------------------------- */

/* ---- max ------------------------------------------------------------------ */

static adm_entry_t entry_with_max(uint64_t key, uint32_t max)
{
    adm_entry_t entry = entry_of(key);

    entry.key_max = max;
    return entry;
}

TEST(a_silent_child_does_not_keep_what_its_own_key_could_use)
{
    adm_child_t *other;

    begin(2);
    other = join();
    ck_assert_int_eq(come_as(entry_with_max(1, 1), 0), ADM_ADMITTED);
    ck_assert_int_eq(come_as(entry_with_max(1, 1), 1), ADM_WAITING);
    adm_ticket_park(&tickets[1], 1);
    ck_assert_int_eq(enter_as(other, zone, entry_with_max(1, 1), adm_now(), &tickets[2]),
                     ADM_WAITING);
    adm_ticket_park(&tickets[2], 2);
    leave(&tickets[0]);
    ck_assert(is_granted(1));
    adm_lease_look(other, zone, adm_now() + 2 * ADM_LEASE_USEC);
    ck_assert(!is_granted(1));
    ck_assert(is_granted(2));
}

/* ---- costs ---------------------------------------------------------------- */

static void set_limit(uint32_t limit)
{
    const adm_override_t wanted = { limit, ADM_OVERRIDE_KEEP, ADM_OVERRIDE_KEEP };
    adm_override_t before, after;

    ck_assert_int_eq(adm_override_set(child, zone, &wanted, adm_now(), &before, &after),
                     APR_SUCCESS);
}

/* A limit that falls lets a dear one run alone; it gives its permit back before it
 * begins, and the limit rises again. */
TEST(a_request_that_waits_again_has_its_original_cost)
{
    adm_entry_t dear = entry_of(1);
    adm_child_t *other;

    dear.cost = 3;
    begin(4);
    other = join();
    ck_assert_int_eq(come_as(dear, 0), ADM_ADMITTED);
    ck_assert_int_eq(come_as(dear, 1), ADM_WAITING);
    adm_ticket_park(&tickets[1], 1);
    set_limit(1);
    leave(&tickets[0]);
    ck_assert(is_granted(1));
    ck_assert_uint_eq(active_in(zone), 1);
    ck_assert_int_eq(enter_as(other, zone, entry_of(2), adm_now(), &tickets[2]), ADM_WAITING);
    adm_ticket_park(&tickets[2], 2);
    adm_lease_look(other, zone, adm_now() + 2 * ADM_LEASE_USEC);
    ck_assert(!is_granted(1));
    ck_assert(is_granted(2));
    assert_segment_consistent();
    set_limit(4);
    ck_assert(adm_ticket_begin(&tickets[2], adm_now()));
    leave(&tickets[2]);
    ck_assert(is_granted(1));
    ck_assert_uint_eq(active_in(zone), 3);
}

/* ---- many keys ------------------------------------------------------------ */

TEST(nine_keys_of_one_set_are_all_served)
{
    uint32_t n;

    begin(1);
    come(CRAWLER, 0, 1, ADM_ADMITTED);
    for (n = 1; n <= ADM_FLOW_WAYS + 1; n++) {
        come(1 + (uint64_t)n * ADM_FLOW_SETS, n, 1, ADM_WAITING);
    }
    assert_segment_consistent();
    for (n = 0; n <= ADM_FLOW_WAYS; n++) {
        uint32_t next;

        leave(&tickets[n]);
        for (next = 1; next <= ADM_FLOW_WAYS + 1 && !(tickets[next].child && is_granted(next));
             next++) {
        }
        ck_assert_uint_le(next, ADM_FLOW_WAYS + 1);
        ck_assert(adm_ticket_begin(&tickets[next], adm_now()));
        assert_segment_consistent();
        leave(&tickets[next]);
        tickets[next].child = NULL;
        if (queued_in(zone) == 0) {
            break;
        }
    }
    ck_assert_uint_eq(queued_in(zone), 0);
}

TEST(a_hundred_thousand_keys_need_no_more_room)
{
    uint64_t key;

    begin(1);
    for (key = 1; key <= 100000; key++) {
        adm_entry_t entry = entry_of(key * 0x9e3779b97f4a7c15);

        ck_assert_int_eq(come_as(entry, 0), ADM_ADMITTED);
        leave(&tickets[0]);
    }
}

TEST(more_permits_than_levels_are_held)
{
    adm_ticket_t held[100];
    uint32_t n;

    begin(100);
    for (n = 0; n < 100; n++) {
        ck_assert_int_eq(enter_as(child, zone, entry_of(1), adm_now(), &held[n]), ADM_ADMITTED);
    }
    come(1, 0, 1, ADM_WAITING);
    come(2, 1, 1, ADM_WAITING);
    leave(&held[0]);
    ck_assert(is_granted(1));
}

/* ---- derived again -------------------------------------------------------- */

static void forget_and_derive(void)
{
    adm_zone_rec_t *rec = rec_of_zone(zone);

    ck_assert_int_eq(adm_lock_acquire(&rec->lock, NEVER), ADM_LOCKED);
    adm_pool_rebuild_locked(segment, rec);
    adm_lock_release(&rec->lock);
    assert_segment_consistent();
}

static void say(bool flows)
{
    uses_flows = flows;
    zone_called("shared", 1, LENGTH);
}

TEST(a_zone_with_requests_starts_and_stops_using_flows)
{
    begin(1);
    say(false);
    come(1, 0, 1, ADM_ADMITTED);
    come(1, 1, 2, ADM_WAITING);
    say(true);
    come(2, 3, 1, ADM_WAITING);
    assert_segment_consistent();
    assert_follows(0, 3); /* those from before have no key, and one flow */
    say(false);
    come(3, 4, 1, ADM_WAITING);
    assert_follows(3, 1);
    assert_follows(1, 2);
    assert_follows(2, 4);
}

TEST(there_may_be_no_table_left)
{
    adm_zone_t one;

    make_segment(8, 8, 256);
    one = zone_with(1, 0);
    ck_assert_int_eq(adm_segment_use_flows(segment, one, true), ADM_NO_FLOWS);
    ck_assert_int_eq(adm_segment_use_flows(segment, one, false), APR_SUCCESS);
}

/* ---- what is shown -------------------------------------------------------- */

TEST(the_largest_keys_are_shown_first)
{
    adm_key_stats_t keys[ADM_KEYS_SHOWN];
    adm_entry_t named = entry_of(3);
    uint32_t n;

    begin(2);
    come(1, 0, 1, ADM_ADMITTED);
    named.key_name = "a name of more than thirty-one bytes";
    ck_assert_int_eq(come_as(named, 1), ADM_ADMITTED);
    come(3, 2, 3, ADM_WAITING);
    for (n = 0; n < 12; n++) {
        come(10 + n, 10 + n, 1, ADM_WAITING);
    }
    ck_assert_uint_eq(adm_view_keys(child, zone, adm_now(), keys), ADM_KEYS_SHOWN);
    ck_assert_uint_eq(keys[0].held, 1);
    ck_assert_uint_eq(keys[0].waiting, 3);
    ck_assert_str_eq(keys[0].name, "a name of more than thirty-one ");
    ck_assert_uint_eq(keys[9].held + keys[9].waiting, 1);
}

TEST(the_keys_of_a_later_zone_in_its_slot_are_not_shown)
{
    adm_key_stats_t keys[ADM_KEYS_SHOWN];
    adm_zone_t gone;

    begin(1);
    come(1, 0, 1, ADM_ADMITTED);
    gone = zone;
    gone.incarnation--;
    ck_assert_uint_eq(adm_view_keys(child, gone, adm_now(), keys), 0);
    ck_assert_uint_eq(adm_view_keys(child, zone, adm_now(), keys), 1);
}

/* ---- the checker ---------------------------------------------------------- */

static void expect_complaint(const char *complaint)
{
    const char *said = adm_check(segment);

    ck_assert_ptr_nonnull(said);
    ck_assert_str_eq(said, complaint);
    forget_and_derive();
}

static size_t resident_pages_of_flows(void)
{
    const adm_flow_table_rec_t *table = adm_flow_table(segment, rec_of_zone(zone));
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = ((uintptr_t)table->flows + page - 1) / page * page;
    size_t length = ((uintptr_t)table->names - first) / page * page;
    unsigned char in_core[sizeof(table->flows) / 4096];
    size_t n, resident = 0;

    ck_assert_uint_le(length / page, sizeof(in_core));
    ck_assert_int_eq(mincore((void *)first, length, in_core), 0);
    for (n = 0; n < length / page; n++) {
        resident += in_core[n] & 1;
    }
    return resident;
}

TEST(viewing_a_zone_without_requests_touches_no_flow)
{
    adm_key_stats_t keys[ADM_KEYS_SHOWN];
    size_t before;

    begin(4);
    come(1, 0, 1, ADM_ADMITTED);
    leave(&tickets[0]);
    before = resident_pages_of_flows();
    ck_assert_uint_eq(adm_view_keys(child, zone, adm_now(), keys), 0);
    ck_assert_uint_eq(resident_pages_of_flows(), before);
}

TEST(faults_in_flows_are_detected)
{
    adm_flow_table_rec_t *table;
    adm_flow_rec_t *flow;

    begin(1);
    come(1, 0, 1, ADM_ADMITTED);
    come(1, 1, 2, ADM_WAITING);
    table = adm_flow_table(segment, rec_of_zone(zone));
    flow = &table->flows[adm_ask_at(segment, tickets[0].idx)->flow_idx - 1];
    flow->held++;
    expect_complaint("a flow and the permits of its tickets differ");
    flow->waiting--;
    expect_complaint("a flow and its waiting tickets differ");
    flow->rings[ADM_PRIORITY_NORMAL] = 0;
    expect_complaint("a flow is in a ring and may not be next, or the reverse");
    flow->queues[ADM_PRIORITY_NORMAL].tail_idx = 0;
    expect_complaint("the tail of a flow's queue is not its last");
    table->levels[ADM_PRIORITY_NORMAL][ADM_RING_OTHERS] = 0;
    expect_complaint("the mask of a level and its ring differ");
    adm_ask_at(segment, tickets[1].idx)->prev_idx = 7;
    expect_complaint("the queue of a flow is not linked both ways");
    adm_ask_at(segment, tickets[1].idx)->flow_idx = 0;
    expect_complaint("a ticket is in no flow of its key");
    adm_ask_at(segment, tickets[0].idx)->asked = 0;
    expect_complaint("a ticket asks for no permit, or takes more than it asks "
                     "for");
    adm_ask_at(segment, tickets[0].idx)->arrival++;
    expect_complaint("the ask of a ticket is that of another one");
}

TEST(a_corrupt_table_is_repaired)
{
    adm_flow_table_rec_t *table;
    unsigned ring;

    begin(1);
    come(1, 0, 1, ADM_ADMITTED);
    come(1, 1, 2, ADM_WAITING);
    come(2, 3, 1, ADM_WAITING);
    table = adm_flow_table(segment, rec_of_zone(zone));
    for (ring = 0; ring < ADM_FLOW_RINGS; ring++) {
        table->rings[ring].first_idx = ADM_FLOWS; /* a flow without tickets */
    }
    leave(&tickets[0]);
    ck_assert_uint_eq(queued_in(zone), 2);
}
