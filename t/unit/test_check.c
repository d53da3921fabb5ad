/* test_check.c - adm_check() finds each kind of damage. */
#include "core/adm_limit.h"
#include "test_story.h"

static adm_zone_rec_t *rec;

static adm_ticket_rec_t *ticket(uint32_t idx)
{
    return adm_ticket_at(segment, idx);
}

enum { DAMAGES = 28 };

/* @return the complaint that the n-th damage causes; NULL if there are fewer. */
static const char *damage(int n)
{
    DAMAGE("the header is not ours", segment->header->magic++)
    DAMAGE("more zones are in use than there are", segment->header->zones_used = 9)
    DAMAGE("a ticket has no known state", ticket(1)->state = 77)
    DAMAGE("a ticket names no child", ticket(1)->child_idx = 9)
    DAMAGE("a ticket names no child", ticket(2)->child_idx = 5)
    DAMAGE("a chunk in use lies beyond chunks_used", segment->header->chunks_used = 0)
    DAMAGE("active and the tickets that hold permits differ", rec->active = 2)
    DAMAGE("active and the tickets that hold permits differ", rec->active = 0)
    DAMAGE("a permit is held for longer than the zone is busy",
           ticket(1)->since_usec = rec->busy_since_usec - 1)
    DAMAGE("queued and the waiting tickets differ", rec->queued = 4)
    DAMAGE("orphans and the orphaned tickets differ", rec->orphans = 1)
    DAMAGE("a request waits although a permit is free", adm_limit_set(rec, ADM_LIMIT_CONFIGURED, 2))
    DAMAGE("the next arrival would not be the last", ticket(4)->arrival = rec->next_arrival = 4)
    DAMAGE("a grant without a watcher belongs to no child", rec->unguarded_idx = 9)
    DAMAGE("the event that the agent waits for happened, and the agent was not woken",
           rec->watch = ADM_WATCH_ENTER)
    DAMAGE("the event that the agent waits for happened, and the agent was not woken",
           rec->watch = ADM_WATCH_QUEUE)
    DAMAGE("a zone watches for an unknown event", rec->watch = 8)
    DAMAGE("a ticket in the queue does not wait", rec->head_idx = 1)
    DAMAGE("a ticket in the queue does not wait", ticket(3)->next_idx = 1000000)
    DAMAGE("the queue is not linked both ways", ticket(3)->prev_idx = 0)
    DAMAGE("the queue is not in order of arrival", ticket(3)->arrival = ticket(2)->arrival)
    DAMAGE("the queue and the waiting tickets differ", ticket(3)->next_idx = 0)
    DAMAGE("the queue is not linked both ways", ticket(4)->next_idx = 2)
    DAMAGE("the queue's tail is not its last", rec->tail_idx = 3)
    DAMAGE("a ticket on the free list is in use", rec->free_idx = 1)
    DAMAGE("an unused ticket is on no list, or on two", rec->free_idx = 0)
    DAMAGE("an unused ticket is on no list, or on two", ticket(5)->next_idx = 5)
    DAMAGE("an unused ticket is on no list, or on two", rec->fresh_idx = 0)
    return NULL;
}

/* Loop test: in a zone with nothing wrong each damage on its own is found and named. */
TESTS(a_damage_is_found, 0, DAMAGES)
{
    /* One inside (ticket 1), three in the queue (2, 3, 4), one unused (5), fresh ones behind. */
    tell("zone 1 10; A in; BCDE waits; E gone");
    rec = rec_of_zone(zone);
    ck_assert_ptr_null(adm_check(segment));
    ck_assert_ptr_null(damage(DAMAGES)); /* none is left out */
    is_spoilt = true;
    ck_assert_pstr_eq(damage(_i), adm_check(segment));
}
