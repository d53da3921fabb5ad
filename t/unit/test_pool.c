/* test_pool.c - a zone's tickets: unused ones, the line, and how both are
 * derived again. Looks into the segment. */
#include "test_story.h"

TEST(a_long_queue_over_many_chunks_is_sorted_by_arrival)
{
    enum { LENGTH = 1000 };
    static adm_ticket_t line[LENGTH];
    unsigned n;

    make_segment(2, 2, 2048);
    zone = zone_called("one", 0, 2 * LENGTH);
    child = join();
    /* Tickets in another order than arrivals. */
    enter_many(child, zone, line, LENGTH, ADM_WAITING);
    for (n = 0; n < LENGTH; n += 3) {
        adm_ticket_cancel(&line[n], ADM_GONE, adm_now());
    }
    for (n = 0; n < LENGTH; n += 3) {
        ck_assert_int_eq(enter(child, zone, &line[n]), ADM_WAITING);
    }
    for (n = 0; n < LENGTH; n++) {
        rec_of_ticket(&line[n])->next_idx = 5;
    }
    rebuild_zone(zone);
    assert_segment_consistent();
    ck_assert_uint_eq(queued_in(zone), LENGTH);
}

/* ---- corrupt shared memory: no endless loop, no crash ---------- */

/* I has been in line. */
#define FILLED "zone 3 10; ABC in; DEFGHI waits; I gone"

/* Loop test: the head does not wait, does not exist, or is its own successor. */
TESTS(a_corrupt_queue_is_rebuilt, 0, 3)
{
    tell(FILLED);
    if (_i < 2) {
        rec_of_zone(zone)->head_idx = _i ? 4000000000 : request('I')->idx;
    }
    else {
        rec_of_ticket(request('D'))->next_idx = request('D')->idx;
    }
    tell("AB leaves; has CDE");
}

/* Loop test: its head does not exist, or is in use. */
TESTS(a_corrupt_free_list_does_not_stop_a_zone, 0, 2)
{
    tell(FILLED);
    rec_of_zone(zone)->free_idx = _i ? request('A')->idx : 4000000000;
    tell("J waits");
}
