/* test_pool.c - a zone's tickets: unused ones, the line, and how both are
 * derived again. Looks into the segment. */

#include "test_support.h"

/* A zone of 3 inside and 5 in line (tickets 1..8), two unused ones behind. */
static adm_ticket_t inside[3], waiting[5], unused[2];

static void fill_zone(void)
{
    stage(3, 10);
    enter_many(child, zone, inside, 3, ADM_ADMITTED);
    enter_many(child, zone, waiting, 5, ADM_WAITING);
    enter_many(child, zone, unused, 2, ADM_WAITING);
    adm_ticket_cancel(&unused[0], ADM_GONE, adm_now());
    adm_ticket_cancel(&unused[1], ADM_GONE, adm_now());
}

TEST(a_ticket_given_back_is_used_again_before_a_fresh_one)
{
    adm_ticket_t ticket;

    fill_zone();
    ck_assert_int_eq(enter(child, zone, &ticket), ADM_WAITING);
    ck_assert_uint_eq(ticket.idx, unused[1].idx);
    ck_assert_int_eq(enter(child, zone, &ticket), ADM_WAITING);
    ck_assert_uint_eq(ticket.idx, unused[0].idx);
}

TEST(a_zone_takes_one_chunk_after_the_other)
{
    adm_zone_t one = zone_with(1000, 0), other = zone_with(1000, 0);
    adm_ticket_t tickets[ADM_CHUNK_TICKETS + 1], ticket;

    child = join();
    enter_many(child, one, tickets, ADM_CHUNK_TICKETS, ADM_ADMITTED);
    ck_assert_int_eq(enter(child, other, &ticket), ADM_ADMITTED);
    ck_assert_int_eq(enter(child, one, &tickets[ADM_CHUNK_TICKETS]), ADM_ADMITTED);
    ck_assert_uint_eq((ticket.idx - 1) / ADM_CHUNK_TICKETS, 1);
    ck_assert_uint_eq((tickets[ADM_CHUNK_TICKETS].idx - 1) / ADM_CHUNK_TICKETS, 2);
    ck_assert_uint_eq(atomic_load(&segment->header->chunks_used), 3);
}

TEST(an_unknown_state_becomes_an_unused_ticket)
{
    unsigned n;

    fill_zone();
    atomic_store(&rec_of_ticket(&unused[0])->state, 12345);
    rebuild_zone(zone);
    ck_assert_uint_eq(atomic_load(&rec_of_ticket(&unused[0])->state), ADM_TICKET_FREE);
    for (n = 0; n < 5; n++) {
        leave(n < 3 ? &inside[n] : &waiting[n - 3]);
        ck_assert(adm_ticket_is_granted(&waiting[n]));
    }
}

/* Every third one came after all others. */
static adm_ticket_t *nth_served(unsigned n, adm_ticket_t *line, unsigned length)
{
    unsigned others = length - (length + 2) / 3;

    return &line[n < others ? n / 2 * 3 + 1 + n % 2 : 3 * (n - others)];
}

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
    zone_called("one", 1, 2 * LENGTH);
    adm_round(child, adm_now(), false);
    for (n = 0; n < LENGTH; n++) {
        adm_ticket_t *next = nth_served(n, line, LENGTH);

        ck_assert(adm_ticket_is_granted(next));
        leave(next);
    }
}

/* ---- corrupt shared memory: no endless loop, no crash ---------- */

/* Loop test: the head does not wait, does not exist, or is its own successor. */
TESTS(a_corrupt_queue_is_rebuilt, 0, 3)
{
    fill_zone();
    if (_i < 2) {
        rec_of_zone(zone)->head_idx = _i ? 4000000000 : unused[0].idx;
    }
    else {
        rec_of_ticket(&waiting[0])->next_idx = waiting[0].idx;
    }
    leave(&inside[0]);
    leave(&inside[1]);
    ck_assert(adm_ticket_is_granted(&waiting[0]));
    ck_assert(adm_ticket_is_granted(&waiting[1]));
    ck_assert_uint_eq(active_in(zone), 3);
}

/* Loop test over heads of the free list. */
TESTS(a_corrupt_free_list_does_not_stop_a_zone, 0, 2)
{
    adm_ticket_t ticket;
    const uint32_t torn[] = { 4000000000, 1 /* in use */ };

    fill_zone();
    rec_of_zone(zone)->free_idx = torn[_i];
    ck_assert_int_eq(enter(child, zone, &ticket), ADM_WAITING);
}
