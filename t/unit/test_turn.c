/* test_turn.c - the order of grants: keys, priorities, costs. */
#include <string.h>

#include "test_story.h"

STORY(new_keys_and_others_take_turns,
      "flows; zone 1 20; key 1 A in; key 1 BCD waits; key 2 EF waits; key 3 G waits;"
      "key 4 H waits; A>E>B>G>F>H>C>D");

STORY(a_key_waits_with_several_priorities,
      "flows; zone 1 20; key 1 A in; key 1 BC waits; key 1 high D waits; key 1 low E waits;"
      "A>D>B>E>C");

STORY(silent_winners_make_room_for_an_expensive_request,
      "flows; zone 2 20; children 2; key 1 AB in; key 2 C parked; key 3 D parked;"
      "child 2 key 4 cost 2 E parked; AB leaves; has CD; wait 10L; look 2; has E; active 2");

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
