/* fair_search.c - select the next ticket in a zone with a fair queue.
 *
 * Usually the first ticket of the first flow is selected. Further ones are
 * searched only if its child cannot run it.
 */
#include "core/adm_fault.h"
#include "fair_flow.h"
#include "core/adm_grant.h"
#include "fair_ring.h"
#include "fair_search.h"

typedef struct search_t {
    const adm_segment_t *segment;
    adm_flow_table_rec_t *table;
    uint32_t left; /* bound of visited tickets and flows: ends a search in a
                    * cyclic list */
    uint32_t idle_idx;
    uint32_t full_idx; /* first ticket of each kind; 0: none */
    uint32_t first_idx;
    bool is_broken;
} search_t;

/* Check one ticket. @return whether the search is over. */
static bool check_ticket(search_t *search, uint32_t ticket_idx)
{
    const adm_ticket_rec_t *ticket = adm_ticket_at(search->segment, ticket_idx);
    enum adm_room_t room;

    if (!ticket || !search->left--
        || atomic_load(&ticket->state) != ADM_TICKET_WAITING) {
        search->is_broken = true;
        return true;
    }
    room = adm_grant_room_for(search->segment, ticket);
    if (!search->first_idx) {
        search->first_idx = ticket_idx;
    }
    if (room == ADM_ROOM_FULL && !search->full_idx) {
        search->full_idx = ticket_idx;
    }
    if (room == ADM_ROOM_IDLE) {
        search->idle_idx = ticket_idx;
    }
    return room == ADM_ROOM_IDLE;
}

/* The search_ functions check the tickets of a flow, ring, level or priority in
 * the order of turns. They return whether the search is over: a ticket can run,
 * or a list is corrupt. */
static bool search_flow(search_t *search, const adm_flow_rec_t *flow,
                        unsigned priority)
{
    uint32_t idx = flow->queues[priority].head_idx;

    if (!idx || !search->left--) {
        search->is_broken = true;
        return true;
    }
    while (idx) {
        if (check_ticket(search, idx)) {
            return true;
        }
        idx = adm_ask_at(search->segment, idx)->next_idx;
    }
    return false;
}

static bool search_ring(search_t *search, unsigned priority, unsigned kind,
                        unsigned level)
{
    unsigned number = adm_ring_number(priority, kind, level);
    uint32_t idx = search->table->rings[number].first_idx;

    while (idx) {
        const adm_flow_rec_t *flow = adm_ring_flow(search->table, idx);

        if (!flow || flow->rings[priority] != number + 1) {
            search->is_broken = true;
            return true;
        }
        if (search_flow(search, flow, priority)) {
            return true;
        }
        idx = flow->queues[priority].next_idx;
    }
    return false;
}

static bool search_level(search_t *search, unsigned priority, unsigned level)
{
    const adm_flow_table_rec_t *table = search->table;
    unsigned first = table->others_next[priority] >> level & 1
                         ? ADM_RING_OTHERS
                         : ADM_RING_UNSEEN;

    return search_ring(search, priority, first, level)
           || search_ring(search, priority, 1 - first, level);
}

static bool search_priority(search_t *search, unsigned priority)
{
    const adm_flow_table_rec_t *table = search->table;
    uint64_t levels = table->levels[priority][ADM_RING_UNSEEN]
                      | table->levels[priority][ADM_RING_OTHERS];

    for (; levels; levels &= levels - 1) {
        if (search_level(search, priority, (unsigned)__builtin_ctzll(levels))) {
            return true;
        }
    }
    return false;
}

static search_t start_search(const adm_segment_t *segment,
                             const adm_zone_rec_t *zone)
{
    uint32_t queued = atomic_load_explicit(&zone->queued, memory_order_relaxed);

    return (search_t){ .segment = segment,
                       .table = adm_flow_table(segment, zone),
                       /* each ticket, and at most as many flows */
                       .left = queued <= segment->sizes.tickets ? 2 * queued
                                                                : 0 };
}

static void search_all(search_t *search)
{
    unsigned order[ADM_PRIORITIES];
    unsigned count = adm_ring_priorities(search->table, order), n;

    for (n = 0; n < count && !search_priority(search, order[n]); n++) {
    }
}

uint32_t adm_turn_find_winner_locked(const adm_segment_t *segment,
                                     const adm_zone_rec_t *zone, bool *can_run,
                                     bool *is_broken)
{
    search_t search = start_search(segment, zone);

    if (search.table) {
        search_all(&search);
    }
    else {
        search.is_broken = true;
    }
    *is_broken = search.is_broken;
    *can_run = !search.is_broken && search.idle_idx;
    return search.is_broken  ? 0
           : search.idle_idx ? search.idle_idx
           : search.full_idx ? search.full_idx
                             : search.first_idx;
}

/* ---- passing on ----------------------------------------------------------- */

/* @return whether another waiter of the same key can use the grant's permits.
 * Its flow might be in no ring, because the key's maximum includes these
 * permits. */
static bool can_own_flow_use(const adm_segment_t *segment,
                             const adm_zone_rec_t *zone, uint32_t ticket_idx)
{
    search_t search = start_search(segment, zone);
    const adm_ask_rec_t *ask = adm_ask_at(segment, ticket_idx);
    const adm_flow_rec_t *flow = search.table ? adm_ring_flow(search.table,
                                                              ask->flow_idx)
                                              : NULL;
    unsigned priority;

    for (priority = 0; flow && priority < ADM_PRIORITIES; priority++) {
        if (flow->queues[priority].head_idx && !flow->rings[priority]
            && adm_flow_is_below_max(segment, flow, priority,
                                     flow->held - ask->cost)
            && search_flow(&search, flow, priority)) {
            break;
        }
    }
    return !search.is_broken && search.idle_idx;
}

static bool can_another_use(const adm_segment_t *segment,
                            const adm_zone_rec_t *zone, uint32_t ticket_idx)
{
    bool can_run, is_broken;

    adm_turn_find_winner_locked(segment, zone, &can_run, &is_broken);
    return can_run || can_own_flow_use(segment, zone, ticket_idx);
}

uint32_t adm_turn_find_loser_locked(const adm_segment_t *segment,
                                    const adm_zone_rec_t *zone, adm_usec_t now)
{
    uint32_t left = segment->sizes.tickets; /* ends the loop if a corrupt list
                                             * is cyclic */
    uint32_t idx, loser_idx = 0;

    /* newest first, so the last match is the oldest grant */
    for (idx = zone->granted_idx; idx && left; left--) {
        const adm_ticket_rec_t *ticket = adm_ticket_at(segment, idx);

        if (!ticket) {
            break;
        }
        if (atomic_load(&ticket->state) == ADM_TICKET_GRANTED
            && adm_grant_is_due(segment, ticket, now)) {
            /* Mark the child before the search, which would otherwise select it
             * again. */
            adm_grant_mark_child(segment, ticket);
            ADM_FAULT(pass_marked);
            if (can_another_use(segment, zone, idx)) {
                loser_idx = idx;
            }
        }
        idx = ticket->next_idx;
    }
    return loser_idx;
}
