/* adm_flow_check.c - verify what a zone knows of its keys.
 * Called by adm_check.
 */
#include <string.h>

#include "adm_flow.h"
#include "adm_flow_check.h"
#include "adm_limit.h"
#include "adm_ring.h"
#include "adm_turn.h"

/* ---- tickets and flows ---------------------------------------------------- */

typedef struct flow_sum_t {
    adm_waiting_rec_t of_sizes[ADM_PRIORITIES][ADM_COST_SIZES];
    uint32_t holding;
    uint32_t held[ADM_FLOWS];
    uint32_t waiting[ADM_FLOWS];
} flow_sum_t;

static bool belongs_to(const adm_ask_rec_t *ask, uint32_t flow_idx)
{
    uint32_t set = (uint32_t)(ask->key % ADM_FLOW_SETS);

    return (flow_idx - 1) / ADM_FLOW_WAYS == set;
}

static const char *add_ticket(const adm_segment_t *segment, uint32_t ticket_idx,
                              flow_sum_t *sum)
{
    const adm_ticket_rec_t *ticket = adm_ticket_at(segment, ticket_idx);
    const adm_ask_rec_t *ask = adm_ask_at(segment, ticket_idx);
    uint32_t state = atomic_load(&ticket->state);
    adm_waiting_rec_t *of_size;

    if (state == ADM_TICKET_FREE) {
        return NULL;
    }
    if (ask->arrival != ticket->arrival) {
        return "the ask of a ticket is that of another one";
    }
    if (ask->cost == 0 || ask->cost > ask->asked) {
        return "a ticket asks for no permit, or takes more than it asks for";
    }
    if (ask->flow_idx - 1U >= ADM_FLOWS || !belongs_to(ask, ask->flow_idx)) {
        return "a ticket is in no flow of its key";
    }
    if (state == ADM_TICKET_WAITING) {
        sum->waiting[ask->flow_idx - 1]++;
        of_size = &sum->of_sizes[ask->priority % ADM_PRIORITIES]
                                [adm_flow_size_of(ask->cost)];
        of_size->tickets++;
        of_size->cost += ask->cost;
    }
    else {
        sum->holding++;
        sum->held[ask->flow_idx - 1] += ask->cost;
    }
    return NULL;
}

static const char *add_tickets(const adm_segment_t *segment,
                               const adm_zone_rec_t *zone, flow_sum_t *sum)
{
    const char *wrong = NULL;
    uint32_t chunk, n;

    for (chunk = 0; chunk < segment->chunks && !wrong; chunk++) {
        if (atomic_load(&segment->chunk_recs[chunk].zone_idx)
            != adm_zone_idx(segment, zone)) {
            continue;
        }
        for (n = 0; n < ADM_CHUNK_TICKETS && !wrong; n++) {
            wrong = add_ticket(segment, chunk * ADM_CHUNK_TICKETS + 1 + n, sum);
        }
    }
    return wrong;
}

static const char *check_queue(const adm_segment_t *segment,
                               const adm_flow_table_rec_t *table,
                               uint32_t flow_idx, unsigned priority,
                               uint32_t *waiting)
{
    const adm_flow_queue_rec_t *queue =
        &table->flows[flow_idx - 1].queues[priority];
    uint32_t idx = queue->head_idx, prev_idx = 0;
    uint64_t last_arrival = 0;

    for (; idx; idx = adm_ask_at(segment, idx)->next_idx) {
        const adm_ask_rec_t *ask = adm_ask_at(segment, idx);

        if (!ask || ++*waiting > segment->sizes.tickets
            || ask->flow_idx != flow_idx || ask->priority != priority
            || atomic_load(&adm_ticket_at(segment, idx)->state)
                   != ADM_TICKET_WAITING) {
            return "what stands in the queue of a flow does not wait there";
        }
        if (ask->prev_idx != prev_idx) {
            return "the queue of a flow is not linked both ways";
        }
        if (prev_idx && ask->arrival <= last_arrival) {
            return "the queue of a flow is not in order of arrival";
        }
        last_arrival = ask->arrival;
        prev_idx = idx;
    }
    return queue->tail_idx == prev_idx
               ? NULL
               : "the tail of a flow's queue is not its last";
}

static const char *check_flow(const adm_segment_t *segment,
                              const adm_flow_table_rec_t *table,
                              uint32_t flow_idx, const flow_sum_t *sum)
{
    const adm_flow_rec_t *flow = &table->flows[flow_idx - 1];
    uint32_t waiting = 0;
    unsigned priority;

    for (priority = 0; priority < ADM_PRIORITIES; priority++) {
        bool is_next = flow->queues[priority].head_idx
                       && adm_flow_is_below_max(segment, flow, priority,
                                                flow->held);
        const char *wrong = check_queue(segment, table, flow_idx, priority,
                                        &waiting);

        if (wrong) {
            return wrong;
        }
        if (is_next != (flow->rings[priority] != 0)) {
            return "a flow is in a ring and may not be next, or the reverse";
        }
    }
    if (flow->held != sum->held[flow_idx - 1]) {
        return "a flow and the permits of its tickets differ";
    }
    if (flow->waiting != sum->waiting[flow_idx - 1]
        || flow->waiting != waiting) {
        return "a flow and its waiting tickets differ";
    }
    return NULL;
}

static const char *check_sums(const adm_flow_table_rec_t *table,
                              const flow_sum_t *sum)
{
    uint32_t flows = 0, n;

    for (n = 0; n < ADM_FLOWS; n++) {
        flows += table->flows[n].waiting != 0;
    }
    return table->waiting_flows == flows && table->holding == sum->holding
                   && memcmp(table->waiting, sum->of_sizes,
                             sizeof(table->waiting))
                          == 0
               ? NULL
               : "a sum over the flows and these differ";
}

/* ---- rings ---------------------------------------------------------------- */

static const char *check_ring(const adm_flow_table_rec_t *table,
                              unsigned priority, unsigned kind, unsigned level,
                              uint32_t *in_rings)
{
    unsigned number = adm_ring_number(priority, kind, level);
    const adm_ring_rec_t *ring = &table->rings[number];
    bool is_said = table->levels[priority][kind] >> level & 1;
    uint32_t idx = ring->first_idx, prev_idx = 0;

    if (is_said != (idx != 0)) {
        return "the mask of a level and its ring differ";
    }
    while (idx) {
        const adm_flow_rec_t *flow = &table->flows[(idx - 1) % ADM_FLOWS];
        uint32_t held = flow->held < ADM_FLOW_LEVELS - 1 ? flow->held
                                                         : ADM_FLOW_LEVELS - 1;

        if (flow->rings[priority] != number + 1 || held != level
            || ++*in_rings > ADM_PRIORITIES * ADM_FLOWS) {
            return "a flow is not in the ring of its level";
        }
        if (flow->queues[priority].prev_idx != prev_idx) {
            return "a ring is not linked both ways";
        }
        prev_idx = idx;
        idx = flow->queues[priority].next_idx;
    }
    return ring->last_idx == prev_idx ? NULL
                                      : "the end of a ring is not its last";
}

static const char *check_rings(const adm_flow_table_rec_t *table)
{
    uint32_t in_rings = 0, says_so = 0, flow;
    unsigned priority, kind, level;
    const char *wrong = NULL;

    for (priority = 0; priority < ADM_PRIORITIES; priority++) {
        for (kind = 0; kind < ADM_RING_KINDS; kind++) {
            for (level = 0; level < ADM_FLOW_LEVELS && !wrong; level++) {
                wrong = check_ring(table, priority, kind, level, &in_rings);
            }
        }
        for (flow = 0; flow < ADM_FLOWS; flow++) {
            says_so += table->flows[flow].rings[priority] != 0;
        }
    }
    if (!wrong && in_rings != says_so) {
        wrong = "a flow says that it is in a ring, and is not";
    }
    return wrong;
}

static const char *check_turn(const adm_segment_t *segment,
                              const adm_zone_rec_t *zone)
{
    uint32_t limit = adm_limit_effective(zone);
    uint32_t active = atomic_load(&zone->active);
    bool can_run, is_broken;
    uint32_t idx = adm_turn_find_winner_locked(segment, zone, &can_run,
                                               &is_broken);

    if (is_broken) {
        return "whose turn it is cannot be found";
    }
    return idx && active < limit
                   && adm_flow_need(adm_ask_at(segment, idx), limit)
                          <= limit - active
               ? "somebody waits beside a free permit"
               : NULL;
}

const char *adm_flow_check(const adm_segment_t *segment,
                           const adm_zone_rec_t *zone)
{
    const adm_flow_table_rec_t *table = adm_flow_table(segment, zone);
    flow_sum_t sum = { 0 };
    const char *wrong;
    uint32_t idx;

    if (!table) {
        return NULL;
    }
    wrong = add_tickets(segment, zone, &sum);
    for (idx = 1; idx <= ADM_FLOWS && !wrong; idx++) {
        wrong = check_flow(segment, table, idx, &sum);
    }
    if (!wrong) {
        wrong = check_sums(table, &sum);
    }
    if (!wrong) {
        wrong = check_rings(table);
    }
    return wrong ? wrong : check_turn(segment, zone);
}
