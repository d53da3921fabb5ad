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

/* The search_ functions check the tickets of a flow, ring, level or priority in
 * the order of turns: flows that hold fewer permits come first. They return
 * whether the search is over: a ticket can run, or a list is corrupt.
 *
 * A ticket that would exceed the key's maximum with the @a held permits is
 * skipped: it can ask for more than those before it. */
static bool search_flow(adm_search_t *search, const fair_flow_rec_t *flow,
                        unsigned priority, uint32_t held)
{
    uint32_t idx = flow->queues[priority].head_idx;

    if (!idx || !search->left--) {
        search->is_broken = true;
        return true;
    }
    while (idx) {
        const adm_ask_rec_t *ask = adm_ask_at(search->segment, idx);

        if (!ask || !search->left--) {
            search->is_broken = true;
            return true;
        }
        if (fair_flow_is_below_max(ask, held) && adm_grant_check(search, idx)) {
            return true;
        }
        idx = ask->next_idx;
    }
    return false;
}

static bool search_ring(adm_search_t *search, adm_flow_table_rec_t *table,
                        unsigned priority, unsigned kind, unsigned level)
{
    unsigned number = fair_ring_number(priority, kind, level);
    uint32_t idx = table->rings[number].first_idx;

    while (idx) {
        const fair_flow_rec_t *flow = fair_ring_flow(table, idx);

        if (!flow || flow->rings[priority] != number + 1) {
            search->is_broken = true;
            return true;
        }
        if (search_flow(search, flow, priority, flow->held)) {
            return true;
        }
        idx = flow->queues[priority].next_idx;
    }
    return false;
}

/* The two kinds of flows take turns. */
static bool search_level(adm_search_t *search, adm_flow_table_rec_t *table,
                         unsigned priority, unsigned level)
{
    unsigned first = table->others_next[priority] >> level & 1
                         ? FAIR_RING_OTHERS
                         : FAIR_RING_UNSEEN;

    return search_ring(search, table, priority, first, level)
           || search_ring(search, table, priority, 1 - first, level);
}

static bool search_priority(adm_search_t *search, adm_flow_table_rec_t *table,
                            unsigned priority)
{
    uint64_t levels = table->levels[priority][FAIR_RING_UNSEEN]
                      | table->levels[priority][FAIR_RING_OTHERS];

    for (; levels; levels &= levels - 1) {
        if (search_level(search, table, priority,
                         (unsigned)__builtin_ctzll(levels))) {
            return true;
        }
    }
    return false;
}

/* A search reads each ticket once, checks it once, and reads at most as many flows
 * as tickets. */
static adm_search_t start_search(const adm_segment_t *segment,
                                 const adm_zone_rec_t *zone)
{
    adm_search_t search = adm_grant_start_search(segment, zone);

    search.left *= 3;
    return search;
}

adm_winner_t fair_search_winner_locked(const adm_segment_t *segment,
                                       const adm_zone_rec_t *zone)
{
    adm_flow_table_rec_t *table = fair_flow_table(segment, zone);
    adm_search_t search = start_search(segment, zone);
    unsigned order[ADM_PRIORITIES];
    unsigned count = table ? fair_ring_priorities(table, order) : 0, n;

    search.is_broken = !table;
    for (n = 0; n < count && !search_priority(&search, table, order[n]); n++) {
    }
    return adm_grant_winner(&search);
}

/* ---- passing on ----------------------------------------------------------- */

/* @return whether another waiter of the same key can use the grant's permits.
 * Its flow might be in no ring, because the key's maximum includes these
 * permits. */
static bool can_own_flow_use(const adm_segment_t *segment,
                             const adm_zone_rec_t *zone, uint32_t ticket_idx)
{
    adm_flow_table_rec_t *table = fair_flow_table(segment, zone);
    adm_search_t search = start_search(segment, zone);
    const adm_ask_rec_t *ask = adm_ask_at(segment, ticket_idx);
    const fair_flow_rec_t *flow = table ? fair_ring_flow(table, ask->flow_idx)
                                        : NULL;
    unsigned priority;

    for (priority = 0; flow && priority < ADM_PRIORITIES; priority++) {
        uint32_t head_idx = flow->queues[priority].head_idx;
        uint32_t held = flow->held - ask->cost;

        /* If the first waiter exceeds the maximum, the flow stays in no ring. */
        if (!flow->rings[priority]
            && fair_flow_is_below_max(adm_ask_at(segment, head_idx), held)
            && search_flow(&search, flow, priority, held)) {
            break;
        }
    }
    return !search.is_broken && search.idle_idx;
}

uint32_t fair_search_unused_locked(const adm_segment_t *segment,
                                   const adm_zone_rec_t *zone, adm_usec_t now)
{
    uint32_t left = segment->sizes.tickets; /* bounds a cyclic list */
    uint32_t idx, loser_idx = 0;

    /* The list has the newest grant first, so the last match is the oldest. */
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
            if (fair_search_winner_locked(segment, zone).can_run
                || can_own_flow_use(segment, zone, idx)) {
                loser_idx = idx;
            }
        }
        idx = ticket->next_idx;
    }
    return loser_idx;
}
