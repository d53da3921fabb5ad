/* test_flow.c - the flows of a zone, one per key, and the order of their grants. */
#include <string.h>

#include "fair/fair_flow.h"
#include "fair/fair_ring.h"
#include "test_story.h"

#define ONE "flows; zone 1 20; "

STORY(a_silent_child_does_not_keep_what_its_own_key_could_use,
      "flows; zone 2 20; children 2; all key 1 max 1; A in; B parked; child 2 C parked; A leaves;"
      "has B; wait 2L; look 2; has C");

/* Requests from before have no key, and one flow. */
STORY(a_zone_with_requests_starts_and_stops_using_flows,
      ONE "keys off; key 1 A in; key 1 BC waits; keys on; key 2 D waits; A>D; keys off;"
          "key 3 E waits; D>B>C>E");

/* ---- order: keys, priorities, costs ---------------------------------------- */

STORY(new_keys_and_others_take_turns,
      "flows; zone 1 20; key 1 A in; key 1 BCD waits; key 2 EF waits; key 3 G waits;"
      "key 4 H waits; A>E>B>G>F>H>C>D");

STORY(a_key_waits_with_several_priorities,
      "flows; zone 1 20; key 1 A in; key 1 BC waits; key 1 high D waits; key 1 low E waits;"
      "A>D>B>E>C");

STORY(a_priority_that_cannot_run_does_not_keep_another,
      "flows; zone 1 20; children 2; key 1 A in; key 2 high BDE parked; child 2 key 3 low C parked;"
      "no-room 1; A leaves; has C; child 2 key 4 F parked; room 1; no-room 2; C>B>D>E");

/* One permit is free; the second asks for three. */
STORY(
    a_dry_run_counts_costs,
    "flows; zone 4 20; all dry key 1 cost 3; A in; BC dry-queued; active 9; ABC leaves; active 0");

/* ---- priorities ------------------------------------------------------------ */

/* Two wait of each, so that none is away while one of them runs. */
enum { RUN_NOW = 6 };

/* @return the waiter that was granted a permit, from 0. */
static uint32_t granted_one(void)
{
    uint32_t n;

    for (n = 0; n < RUN_NOW; n++) {
        if (adm_ticket_is_granted(request('A' + n))) {
            return n;
        }
    }
    ck_abort_msg("none is granted");
    return 0;
}

/* One runs after the other, and comes again. @a served: how often by priority. */
static void serve(uint32_t turns, const char *const of[3], uint32_t served[3])
{
    uint32_t n, turn;

    tell("key 9 Z in");
    for (n = 0; n < RUN_NOW; n++) {
        tell("key %u %s %c waits", n + 1, of[n / 2], 'A' + n);
    }
    for (turn = 0; turn < turns; turn++) {
        tell("Z leaves");
        n = granted_one();
        tell("%c begins", 'A' + n);
        served[n / 2]++;
        *request('Z') = *request('A' + n);
        *request('A' + n) = (adm_ticket_t){ 0 };
        tell("key %u %s %c waits", n + 1, of[n / 2], 'A' + n);
    }
}

TEST(priorities_are_served_as_16_to_4_to_1)
{
    static const char *const of[] = { "low", "", "high" };
    uint32_t served[3] = { 0 };

    tell("flows; zone 1 20");
    serve(210, of, served);
    ck_assert_uint_eq(served[0], 10);
    ck_assert_uint_eq(served[1], 40);
    ck_assert_uint_eq(served[2], 160);
}

/* High ones come when low ones have been served for long, and the reverse. */
TEST(a_priority_that_did_not_wait_gets_no_credit)
{
    static const char *const low[] = { "low", "low", "low" }, *const both[] = { "low", "low",
                                                                                "high" };
    uint32_t served[3] = { 0 };

    tell("flows; zone 1 20");
    serve(50, low, served);
    /* After one high one a low one has its turn. */
    tell("key 20 high U waits; key 21 high V waits; Z>U; U leaves");
    ck_assert(!adm_ticket_is_granted(request('V')));
    tell("ABCDEF gone; V leaves; active 0");
    memset(served, 0, sizeof(served));
    serve(34, both, served);
    ck_assert_uint_eq(served[0] + served[1], 2);
    ck_assert_uint_eq(served[2], 32);
}

/* ---- many keys ------------------------------------------------------------ */

TEST(nine_keys_of_one_set_are_all_served)
{
    uint32_t n, next;

    tell(ONE "key 1000 A in");
    for (n = 1; n <= FAIR_FLOW_WAYS + 1; n++) {
        tell("key %u %c waits", 1 + n * FAIR_FLOW_SETS, 'A' + n);
    }
    tell("A leaves");
    for (n = 0; n <= FAIR_FLOW_WAYS; n++) {
        for (next = 1; !atomic_load(&request('A' + next)->held)
                       || !adm_ticket_is_granted(request('A' + next));
             next++) {
            ck_assert_uint_le(next, FAIR_FLOW_WAYS);
        }
        tell("%c begins; %c leaves", 'A' + next, 'A' + next);
    }
    tell("waiting 0");
}

TEST(a_hundred_thousand_keys_need_no_more_room)
{
    adm_entry_t entry = { .wait = ADM_WAIT_PARKED, .key_name = "a key" };
    adm_ticket_t ticket;
    uint64_t key;

    tell(ONE);
    for (key = 1; key <= 100000; key++) {
        entry.key = key * 0x9e3779b97f4a7c15;
        ck_assert_int_eq(enter_as(child, zone, entry, story_now, &ticket), ADM_ADMITTED);
        leave(&ticket);
    }
}

TEST(more_permits_than_levels_are_held)
{
    adm_entry_t entry = { .wait = ADM_WAIT_PARKED, .key = 1 };
    adm_ticket_t held[100];
    uint32_t n;

    tell("flows; zone 100 20");
    for (n = 0; n < 100; n++) {
        ck_assert_int_eq(enter_as(child, zone, entry, story_now, &held[n]), ADM_ADMITTED);
    }
    tell("key 1 A waits; key 2 B waits");
    leave(&held[0]);
    tell("has B");
}

TEST(a_missing_flow_table_is_reported)
{
    zone = zone_with(1, 0);
    ck_assert_int_eq(adm_segment_use_flows(segment, zone, true), ADM_NO_FLOWS);
    ck_assert_int_eq(adm_segment_use_flows(segment, zone, false), APR_SUCCESS);
}

/* ---- what is shown -------------------------------------------------------- */

TEST(the_largest_keys_are_shown_first)
{
    adm_key_stats_t keys[ADM_KEYS_SHOWN];
    adm_entry_t named = { .wait = ADM_WAIT_PARKED,
                          .queue_length = 20,
                          .key = 3,
                          .key_name = "a name of more than thirty-one bytes" };
    uint32_t n;

    tell("flows; zone 2 20; key 1 A in");
    ck_assert_int_eq(enter_as(child, zone, named, story_now, request('B')), ADM_ADMITTED);
    tell("key 3 CDE waits");
    for (n = 0; n < 12; n++) {
        tell("key %u %c waits", 10 + n, 'F' + n);
    }
    ck_assert_uint_eq(adm_view_keys(child, zone, story_now, keys), ADM_KEYS_SHOWN);
    ck_assert_uint_eq(keys[0].held, 1);
    ck_assert_uint_eq(keys[0].waiting, 3);
    ck_assert_str_eq(keys[0].name, "a name of more than thirty-one ");
    ck_assert_uint_eq(keys[9].held + keys[9].waiting, 1);
}

TEST(the_keys_of_a_later_zone_in_its_slot_are_not_shown)
{
    adm_key_stats_t keys[ADM_KEYS_SHOWN];
    adm_zone_t gone;

    tell(ONE "key 1 A in");
    gone = zone;
    gone.incarnation--;
    ck_assert_uint_eq(adm_view_keys(child, gone, story_now, keys), 0);
    ck_assert_uint_eq(adm_view_keys(child, zone, story_now, keys), 1);
}

TEST(viewing_a_zone_without_requests_touches_no_flow)
{
    const adm_flow_table_rec_t *flows;
    adm_key_stats_t keys[ADM_KEYS_SHOWN];
    size_t before;

    tell("flows; zone 4 20; key 1 A in; A leaves");
    flows = fair_flow_table(segment, rec_of_zone(zone));
    before = resident_pages(flows->flows, flows->names);
    ck_assert_uint_eq(adm_view_keys(child, zone, story_now, keys), 0);
    ck_assert_uint_eq(resident_pages(flows->flows, flows->names), before);
}

/* ---- damage ----------------------------------------------------------------- */

/* A has the permit of its key, B and C wait. */
static adm_flow_table_rec_t *table;
static fair_flow_rec_t *flow;

static adm_ask_rec_t *ask_of(char letter)
{
    return adm_ask_at(segment, request(letter)->idx);
}

/* @return the complaint that is expected; NULL if there is no such damage. */
static const char *damage(int n)
{
    DAMAGE("a flow and the permits of its tickets differ", flow->held++)
    DAMAGE("a flow and its waiting tickets differ", flow->waiting--)
    DAMAGE("a flow is in a ring and may not be next, or the reverse", flow->rings[0] = 0)
    DAMAGE("the tail of a flow's queue is not its last", flow->queues[0].tail_idx = 0)
    DAMAGE("the mask of a level and its ring differ", table->levels[0][FAIR_RING_OTHERS] = 0)
    DAMAGE("the queue of a flow is not linked both ways", ask_of('B')->prev_idx = 7)
    DAMAGE("a ticket is in no flow of its key", ask_of('B')->flow_idx = 0)
    DAMAGE("a ticket asks for no permit, or takes more than it asks for", ask_of('A')->asked = 0)
    DAMAGE("the ask of a ticket is that of another one", ask_of('A')->arrival++)
    return NULL;
}

/* A rebuild repairs each damage. */
TESTS(faults_in_flows_are_detected, 0, 9)
{
    adm_zone_rec_t *rec;

    tell(ONE "key 1 A in; key 1 BC waits");
    rec = rec_of_zone(zone);
    table = fair_flow_table(segment, rec);
    flow = &table->flows[ask_of('A')->flow_idx - 1];
    ck_assert_pstr_eq(damage(_i), adm_check(segment));
    rebuild_zone(zone);
    tell("has A; waiting 2");
}

TEST(a_corrupt_table_is_repaired)
{
    unsigned ring;

    tell(ONE "key 1 A in; key 1 BC waits; key 2 D waits");
    table = fair_flow_table(segment, rec_of_zone(zone));
    for (ring = 0; ring < FAIR_FLOW_RINGS; ring++) {
        table->rings[ring].first_idx = ADM_FLOWS; /* a flow without tickets */
    }
    leave(request('A'));
    tell("waiting 2");
}
