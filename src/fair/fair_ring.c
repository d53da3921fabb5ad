/* fair_ring.c - rings: which flow has the next turn. */
#include "core/adm_fault.h"
#include "fair_ring.h"

/* Stride scheduling: a turn advances the priority's pass by its stride, and the
 * lowest pass is next. So turns are shared 16 : 4 : 1. */
static const uint64_t strides[ADM_PRIORITIES] = {
    [ADM_PRIORITY_HIGH] = 1, [ADM_PRIORITY_NORMAL] = 4, [ADM_PRIORITY_LOW] = 16
};

/* order of equal passes */
static const unsigned by_rank[ADM_PRIORITIES] = { ADM_PRIORITY_HIGH,
                                                  ADM_PRIORITY_NORMAL,
                                                  ADM_PRIORITY_LOW };

static unsigned level_of(const fair_flow_rec_t *flow)
{
    return flow->held < FAIR_FLOW_LEVELS - 1 ? flow->held
                                             : FAIR_FLOW_LEVELS - 1;
}

static uint64_t bit_of_level(unsigned ring)
{
    return UINT64_C(1) << ring % FAIR_FLOW_LEVELS;
}

static unsigned kind_of(unsigned ring)
{
    return ring / FAIR_FLOW_LEVELS % FAIR_RING_KINDS;
}

/* Call for a priority that gets its first flow: raise its pass to the lowest of
 * the others. Otherwise it would make up for the time without flows. If no
 * other priority has flows, reset all passes. */
static void catch_up(adm_flow_table_rec_t *table, unsigned priority)
{
    uint64_t least = UINT64_MAX;
    unsigned other;

    for (other = 0; other < ADM_PRIORITIES; other++) {
        if (fair_ring_has_any(table, other) && table->passes[other] < least) {
            least = table->passes[other];
        }
    }
    if (least == UINT64_MAX) {
        for (other = 0; other < ADM_PRIORITIES; other++) {
            table->passes[other] = 0;
        }
    }
    else if (table->passes[priority] < least) {
        table->passes[priority] = least;
    }
}

void fair_ring_take(adm_flow_table_rec_t *table, uint32_t flow_idx,
                    unsigned priority)
{
    fair_flow_rec_t *flow = fair_ring_flow(table, flow_idx);
    unsigned number = flow->rings[priority] - 1U;
    fair_flow_queue_rec_t *queue = &flow->queues[priority];
    fair_flow_rec_t *prev = fair_ring_flow(table, queue->prev_idx);
    fair_flow_rec_t *next = fair_ring_flow(table, queue->next_idx);
    fair_ring_rec_t *ring;

    if (number >= FAIR_FLOW_RINGS) {
        return; /* in no ring */
    }
    ring = &table->rings[number];
    if (prev) {
        prev->queues[priority].next_idx = queue->next_idx;
    }
    else {
        ring->first_idx = queue->next_idx;
    }
    if (next) {
        next->queues[priority].prev_idx = queue->prev_idx;
    }
    else {
        ring->last_idx = queue->prev_idx;
    }
    if (ring->first_idx == 0) {
        table->levels[priority][kind_of(number)] &= ~bit_of_level(number);
    }
    flow->rings[priority] = 0;
}

void fair_ring_put(adm_flow_table_rec_t *table, uint32_t flow_idx,
                   unsigned priority, unsigned kind, enum fair_ring_end_t end)
{
    fair_flow_rec_t *flow = fair_ring_flow(table, flow_idx);
    fair_flow_queue_rec_t *queue = &flow->queues[priority];
    unsigned number = fair_ring_number(priority, kind, level_of(flow));
    fair_ring_rec_t *ring = &table->rings[number];
    fair_flow_rec_t *other;

    if (flow->rings[priority]) {
        fair_ring_take(table, flow_idx, priority);
        ADM_FAULT(flow_unlinked);
    }
    else if (!fair_ring_has_any(table, priority)) {
        catch_up(table, priority);
    }
    queue->prev_idx = end == FAIR_RING_LAST ? ring->last_idx : 0;
    queue->next_idx = end == FAIR_RING_LAST ? 0 : ring->first_idx;
    other = fair_ring_flow(table, queue->prev_idx);
    if (other) {
        other->queues[priority].next_idx = (uint16_t)flow_idx;
    }
    else {
        ring->first_idx = (uint16_t)flow_idx;
    }
    other = fair_ring_flow(table, queue->next_idx);
    if (other) {
        other->queues[priority].prev_idx = (uint16_t)flow_idx;
    }
    else {
        ring->last_idx = (uint16_t)flow_idx;
    }
    table->levels[priority][kind] |= bit_of_level(number);
    flow->rings[priority] = (uint16_t)(number + 1);
}

void fair_ring_note_turn(adm_flow_table_rec_t *table, unsigned ring)
{
    unsigned priority = ring / (FAIR_RING_KINDS * FAIR_FLOW_LEVELS);

    if (priority >= ADM_PRIORITIES) {
        return;
    }
    if (kind_of(ring) == FAIR_RING_UNSEEN) {
        table->others_next[priority] |= bit_of_level(ring);
    }
    else {
        table->others_next[priority] &= ~bit_of_level(ring);
    }
    table->passes[priority] += strides[priority];
}

uint64_t fair_ring_turns_beside(unsigned priority, unsigned other,
                                uint64_t turns)
{
    return turns * strides[priority] / strides[other];
}

bool fair_ring_is_any_next(const adm_flow_table_rec_t *table)
{
    return fair_ring_has_any(table, ADM_PRIORITY_NORMAL)
           || fair_ring_has_any(table, ADM_PRIORITY_HIGH)
           || fair_ring_has_any(table, ADM_PRIORITY_LOW);
}

unsigned fair_ring_priorities(const adm_flow_table_rec_t *table,
                              unsigned order[ADM_PRIORITIES])
{
    unsigned count = 0, rank;

    for (rank = 0; rank < ADM_PRIORITIES; rank++) {
        unsigned priority = by_rank[rank], place = count;

        if (!fair_ring_has_any(table, priority)) {
            continue;
        }
        while (place > 0
               && table->passes[priority] < table->passes[order[place - 1]]) {
            order[place] = order[place - 1];
            place--;
        }
        order[place] = priority;
        count++;
    }
    return count;
}
