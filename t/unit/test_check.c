/* test_check.c - adm_check() finds each kind of damage. */
#include "core/adm_limit.h"
#include "test_support.h"

/* One inside (ticket 1), three in the queue (2, 3, 4), one unused (5), fresh ones
 * behind. */
static adm_zone_rec_t *rec;
static adm_ticket_t inside, waiting[3], unused;

static adm_ticket_rec_t *ticket(uint32_t idx)
{
    return adm_ticket_at(segment, idx);
}

static void set_state(uint32_t idx, unsigned state)
{
    atomic_store(&ticket(idx)->state, state);
}

static void build_zone(void)
{
    adm_child_t *child = join();

    zone = zone_with(1, 10);
    rec = rec_of_zone(zone);
    ck_assert_int_eq(enter(child, zone, &inside), ADM_ADMITTED);
    enter_many(child, zone, waiting, 3, ADM_WAITING);
    ck_assert_int_eq(enter(child, zone, &unused), ADM_WAITING);
    adm_ticket_cancel(&unused, ADM_GONE, adm_now());
}

static void other_magic(void)
{
    segment->header->magic++;
}

static void too_many_zones(void)
{
    atomic_store(&segment->header->zones_used, 9);
}

static void unknown_state(void)
{
    set_state(1, 77);
}

static void child_that_cannot_be(void)
{
    ticket(1)->child_idx = 9;
}

static void held_before_the_zone_was_busy(void)
{
    ticket(1)->since_usec = -1;
    rec->busy_since_usec = 0;
}

static void child_that_is_free(void)
{
    ticket(2)->child_idx = 5;
}

static void chunk_not_noted(void)
{
    atomic_store(&segment->header->chunks_used, 0);
}

static void active_too_high(void)
{
    atomic_store(&rec->active, 2);
}

static void active_too_low(void)
{
    atomic_store(&rec->active, 0);
}

static void queued_too_high(void)
{
    atomic_store(&rec->queued, 4);
}

static void orphans_too_high(void)
{
    atomic_store(&rec->orphans, 1);
}

static void limit_above_line(void)
{
    adm_limit_set(rec, ADM_LIMIT_CONFIGURED, 2);
}

static void arrivals_behind(void)
{
    rec->next_arrival = 4;
    ticket(4)->arrival = 4;
}

static void guard_wanted_by_nobody(void)
{
    atomic_store(&rec->unguarded_idx, 9);
}

static void stranger_in_line(void)
{
    rec->head_idx = 1;
}

static void line_out_of_segment(void)
{
    ticket(3)->next_idx = 1000000;
}

static void line_linked_one_way(void)
{
    ticket(3)->prev_idx = 0;
}

static void line_out_of_order(void)
{
    ticket(3)->arrival = ticket(2)->arrival;
}

static void line_too_short(void)
{
    ticket(3)->next_idx = 0;
}

static void line_in_a_circle(void)
{
    ticket(4)->next_idx = 2;
    ticket(2)->prev_idx = 0;
}

static void wrong_tail(void)
{
    rec->tail_idx = 3;
}

static void used_ticket_on_free_list(void)
{
    rec->free_idx = 1;
}

static void unused_ticket_on_no_list(void)
{
    rec->free_idx = 0;
}

static void free_list_in_a_circle(void)
{
    ticket(5)->next_idx = 5;
}

static void fresh_ones_forgotten(void)
{
    rec->fresh_idx = 0;
}

static const struct {
    void (*make)(void);
    const char *complaint;
} damages[] = {
    { other_magic, "the header is not ours" },
    { too_many_zones, "more zones are in use than there are" },
    { unknown_state, "a ticket has no known state" },
    { child_that_cannot_be, "a ticket names no child" },
    { child_that_is_free, "a ticket names no child" },
    { chunk_not_noted, "a chunk in use lies beyond chunks_used" },
    { active_too_high, "active and the tickets that hold permits differ" },
    { active_too_low, "active and the tickets that hold permits differ" },
    { held_before_the_zone_was_busy, "a permit is held for longer than the zone is busy" },
    { queued_too_high, "queued and the waiting tickets differ" },
    { orphans_too_high, "orphans and the orphaned tickets differ" },
    { limit_above_line, "somebody waits beside a free permit" },
    { arrivals_behind, "the next arrival would not be the last" },
    { guard_wanted_by_nobody, "a grant without a guard is of no child" },
    { stranger_in_line, "what stands in the queue does not wait" },
    { line_out_of_segment, "what stands in the queue does not wait" },
    { line_linked_one_way, "the queue is not linked both ways" },
    { line_out_of_order, "the queue is not in order of arrival" },
    { line_too_short, "the queue and the waiting tickets differ" },
    { line_in_a_circle, "the queue is not linked both ways" },
    { wrong_tail, "the queue's tail is not its last" },
    { used_ticket_on_free_list, "a ticket on the free list is in use" },
    { unused_ticket_on_no_list, "an unused ticket is on no list, or on two" },
    { free_list_in_a_circle, "an unused ticket is on no list, or on two" },
    { fresh_ones_forgotten, "an unused ticket is on no list, or on two" },
};

TEST(a_whole_zone_has_nothing_wrong)
{
    build_zone();
}

/* Loop test: each damage on its own is found and named. */
TESTS(a_damage_is_found, 0, sizeof(damages) / sizeof(damages[0]))
{
    build_zone();
    ck_assert_ptr_null(adm_check(segment));
    is_spoilt = true;
    damages[_i].make();
    ck_assert_pstr_eq(adm_check(segment), damages[_i].complaint);
}

TEST(an_orphan_needs_no_child)
{
    build_zone();
    set_state(1, ADM_TICKET_ORPHANED);
    ticket(1)->child_idx = 0;
    atomic_store(&rec->orphans, 1);
}
