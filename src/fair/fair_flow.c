/* fair_flow.c - state of each key of a fair queue, and what its tickets ask
 * for.
 */
#include <string.h>

#include "core/adm_fault.h"
#include "fair_flow.h"
#include "core/adm_layout.h"
#include "core/adm_limit.h"
#include "fair_ring.h"
#include "core/adm_number.h"

/* ---- asks ----------------------------------------------------------------- */

/* @return the permits requested, bounded by the key's maximum. */
static uint32_t most_of_key(const adm_ask_rec_t *ask)
{
    return ask->max && ask->max < ask->asked ? ask->max : ask->asked;
}

uint32_t adm_flow_need(const adm_ask_rec_t *ask, uint32_t limit)
{
    uint32_t most = most_of_key(ask);

    return most <= limit ? most : limit ? limit : 1;
}

/* Copy a name, zero-padded; it need not be terminated. */
static void copy_name(char to[ADM_KEY_NAME], const char *name)
{
    size_t length = name ? strnlen(name, ADM_KEY_NAME) : 0;

    memset(to, 0, ADM_KEY_NAME);
    memcpy(to, name ? name : "", length);
}

/* What an entry asks for, without the fields of its ticket. */
static adm_ask_rec_t ask_of(const adm_entry_t *entry)
{
    return (adm_ask_rec_t){
        .key = entry->key,
        .asked = adm_to_16_bits(entry->cost ? entry->cost : 1),
        .max = adm_to_16_bits(entry->key_max),
        .priority = (uint8_t)(entry->priority % ADM_PRIORITIES)
    };
}

void adm_flow_ask_locked(adm_segment_t *segment, const adm_entry_t *entry,
                         uint32_t ticket_idx, uint32_t limit)
{
    adm_ask_rec_t *ask = adm_ask_at(segment, ticket_idx);

    *ask = ask_of(entry);
    ask->arrival = adm_ticket_at(segment, ticket_idx)->arrival;
    ask->cost = adm_to_16_bits(adm_flow_need(ask, limit));
    copy_name(ask->name, entry->key_name);
    ADM_FAULT(ask_filled);
}

static unsigned priority_of(const adm_ask_rec_t *ask)
{
    return ask->priority % ADM_PRIORITIES; /* the memory can be corrupt */
}

adm_entry_t adm_flow_entry_of(const adm_segment_t *segment, uint32_t ticket_idx,
                              char name[ADM_KEY_NAME])
{
    const adm_ask_rec_t *ask = adm_ask_at(segment, ticket_idx);

    if (!ask) {
        return (adm_entry_t){ 0 };
    }
    memcpy(name, ask->name, ADM_KEY_NAME);
    return (adm_entry_t){ .key = ask->key,
                          .key_name = name,
                          .key_max = ask->max,
                          .cost = ask->cost,
                          .priority = (adm_priority_t)priority_of(ask) };
}

static void count_waiting(adm_flow_table_rec_t *table, const adm_ask_rec_t *ask,
                          int sign)
{
    adm_waiting_rec_t *waiting =
        &table->waiting[priority_of(ask)][adm_flow_size_of(ask->cost)];

    waiting->tickets += (uint32_t)sign;
    waiting->cost += (uint32_t)(sign * ask->cost);
}

void adm_flow_settle_cost_locked(adm_segment_t *segment,
                                 const adm_zone_rec_t *zone,
                                 uint32_t ticket_idx, uint32_t limit)
{
    adm_flow_table_rec_t *table = adm_flow_table(segment, zone);
    adm_ask_rec_t *ask = adm_ask_at(segment, ticket_idx);
    uint16_t cost = adm_to_16_bits(adm_flow_need(ask, limit));

    if (table) {
        count_waiting(table, ask, -1);
    }
    ask->cost = cost;
    if (table) {
        count_waiting(table, ask, 1);
    }
}

void adm_flow_repair_ask_locked(adm_segment_t *segment, uint32_t ticket_idx)
{
    const adm_ticket_rec_t *ticket = adm_ticket_at(segment, ticket_idx);
    adm_ask_rec_t *ask = adm_ask_at(segment, ticket_idx);

    if (ask->arrival != ticket->arrival || ask->asked == 0 || ask->cost == 0
        || ask->priority >= ADM_PRIORITIES) {
        *ask = (adm_ask_rec_t){ .arrival = ticket->arrival,
                                .asked = 1,
                                .cost = 1 };
    }
}

/* ---- one flow ------------------------------------------------------------- */

/* @return the number of the key's flow; otherwise of an unused one; otherwise
 * of one that the key shares with another key. */
static uint32_t find_flow(const adm_flow_table_rec_t *table, uint64_t key)
{
    uint32_t first = (uint32_t)(key % ADM_FLOW_SETS) * ADM_FLOW_WAYS;
    uint32_t way, unused = ADM_FLOW_WAYS;

    for (way = 0; way < ADM_FLOW_WAYS; way++) {
        const adm_flow_rec_t *flow = &table->flows[first + way];

        if (flow->held == 0 && flow->waiting == 0) {
            unused = unused < way ? unused : way;
        }
        else if (flow->key == key) {
            return first + way + 1;
        }
    }
    if (unused == ADM_FLOW_WAYS) {
        return first + (uint32_t)(key / ADM_FLOW_SETS % ADM_FLOW_WAYS) + 1;
    }
    return first + unused + 1;
}

/* Assign a flow to a ticket. */
static uint32_t join_flow(adm_flow_table_rec_t *table, adm_ask_rec_t *ask)
{
    uint32_t idx = find_flow(table, ask->key);
    adm_flow_rec_t *flow = adm_ring_flow(table, idx);

    if (flow->held == 0 && flow->waiting == 0) {
        table->is_touched = 1;
        flow->key = ask->key;
        memcpy(table->names[idx - 1], ask->name, ADM_KEY_NAME);
    }
    ask->flow_idx = (uint16_t)idx;
    return idx;
}

bool adm_flow_is_below_max(const adm_segment_t *segment,
                           const adm_flow_rec_t *flow, unsigned priority,
                           uint32_t held)
{
    const adm_ask_rec_t *ask = adm_ask_at(segment,
                                          flow->queues[priority].head_idx);

    return ask && (ask->max == 0 || held + most_of_key(ask) <= ask->max);
}

static bool may_be_next(const adm_segment_t *segment,
                        const adm_flow_rec_t *flow, unsigned priority)
{
    return flow->queues[priority].head_idx
           && adm_flow_is_below_max(segment, flow, priority, flow->held);
}

/* Move a flow to the rings for the number of permits that it holds now. */
static void move_flow(adm_segment_t *segment, adm_flow_table_rec_t *table,
                      uint32_t flow_idx, enum adm_ring_end_t end)
{
    const adm_flow_rec_t *flow = adm_ring_flow(table, flow_idx);
    unsigned priority;

    for (priority = 0; priority < ADM_PRIORITIES; priority++) {
        if (may_be_next(segment, flow, priority)) {
            adm_ring_put(table, flow_idx, priority, ADM_RING_OTHERS, end);
        }
        else {
            adm_ring_take(table, flow_idx, priority);
        }
    }
}

/* Update the ring after a change of the flow's first ticket. */
static void update_ring(adm_segment_t *segment, adm_flow_table_rec_t *table,
                        uint32_t flow_idx, unsigned priority)
{
    const adm_flow_rec_t *flow = adm_ring_flow(table, flow_idx);
    bool is_next = may_be_next(segment, flow, priority);

    if (!is_next) {
        adm_ring_take(table, flow_idx, priority);
    }
    else if (!flow->rings[priority]) {
        adm_ring_put(table, flow_idx, priority, ADM_RING_OTHERS, ADM_RING_LAST);
    }
}

/* ---- the queue of a flow --------------------------------------------------- */

/* Insert a ticket after @a prev_idx; 0: as the first one. */
static void link_ask(adm_segment_t *segment, adm_flow_queue_rec_t *queue,
                     uint32_t ticket_idx, uint32_t prev_idx)
{
    adm_ask_rec_t *ask = adm_ask_at(segment, ticket_idx);
    adm_ask_rec_t *prev = adm_ask_at(segment, prev_idx);
    adm_ask_rec_t *next;

    ask->prev_idx = prev_idx;
    ask->next_idx = prev ? prev->next_idx : queue->head_idx;
    if (prev) {
        prev->next_idx = ticket_idx;
    }
    else {
        queue->head_idx = ticket_idx;
    }
    next = adm_ask_at(segment, ask->next_idx);
    if (next) {
        next->prev_idx = ticket_idx;
    }
    else {
        queue->tail_idx = ticket_idx;
    }
}

static void unlink_ask(adm_segment_t *segment, adm_flow_queue_rec_t *queue,
                       const adm_ask_rec_t *ask)
{
    adm_ask_rec_t *prev = adm_ask_at(segment, ask->prev_idx);
    adm_ask_rec_t *next = adm_ask_at(segment, ask->next_idx);

    if (prev) {
        prev->next_idx = ask->next_idx;
    }
    else {
        queue->head_idx = ask->next_idx;
    }
    if (next) {
        next->prev_idx = ask->prev_idx;
    }
    else {
        queue->tail_idx = ask->prev_idx;
    }
}

/* Add (sign 1) or subtract (-1) a ticket's permits. Its first permit is already
 * counted in `active`. */
static void count_cost(adm_zone_rec_t *zone, adm_flow_table_rec_t *table,
                       adm_flow_rec_t *flow, const adm_ask_rec_t *ask, int sign)
{
    table->holding += (uint32_t)sign;
    if (ask->cost > 1) {
        adm_count_locked(&zone->active, sign * (ask->cost - 1));
    }
    flow->held += (uint32_t)(sign * ask->cost);
}

static void count_waiter(adm_flow_table_rec_t *table, adm_flow_rec_t *flow,
                         const adm_ask_rec_t *ask, int sign)
{
    bool had_waiters = flow->waiting != 0;

    flow->waiting += (uint32_t)sign;
    count_waiting(table, ask, sign);
    table->waiting_flows += (uint32_t)((flow->waiting != 0) - had_waiters);
}

/* Ask for all permits again: when the caches are rebuilt, the ticket might have had a
 * grant that was passed on, which lowered the cost. */
static void restore_cost(adm_ask_rec_t *ask)
{
    ask->cost = adm_to_16_bits(adm_flow_need(ask, UINT32_MAX));
}

void adm_flow_append_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                            uint32_t ticket_idx)
{
    adm_flow_table_rec_t *table = adm_flow_table(segment, zone);
    adm_ask_rec_t *ask = adm_ask_at(segment, ticket_idx);
    unsigned priority = priority_of(ask);
    uint32_t idx = table ? join_flow(table, ask) : 0;
    adm_flow_rec_t *flow = table ? adm_ring_flow(table, idx) : NULL;
    bool is_unseen;

    if (!flow) {
        return;
    }
    is_unseen = flow->held == 0 && flow->waiting == 0;
    restore_cost(ask);
    count_waiter(table, flow, ask, 1);
    link_ask(segment, &flow->queues[priority], ticket_idx,
             flow->queues[priority].tail_idx);
    ADM_FAULT(flow_linked);
    if (flow->queues[priority].head_idx == ticket_idx
        && may_be_next(segment, flow, priority)) {
        adm_ring_put(table, idx, priority,
                     is_unseen ? ADM_RING_UNSEEN : ADM_RING_OTHERS,
                     ADM_RING_LAST);
    }
}

/* @return the last waiting ticket that came before this one. */
static uint32_t find_position(adm_segment_t *segment,
                              const adm_flow_queue_rec_t *queue,
                              const adm_ask_rec_t *ask)
{
    uint32_t left = segment->sizes.tickets; /* ends the loop if a corrupt list
                                             * is cyclic */
    uint32_t prev_idx = 0, idx;

    for (idx = queue->head_idx; left; left--) {
        const adm_ask_rec_t *next = adm_ask_at(segment, idx);

        if (!next || next->arrival > ask->arrival) {
            break;
        }
        prev_idx = idx;
        idx = next->next_idx;
    }
    return prev_idx;
}

/* @return the flow of a ticket that counts; NULL if the memory is corrupt. */
static adm_flow_rec_t *flow_of(const adm_segment_t *segment,
                               const adm_zone_rec_t *zone, uint32_t ticket_idx)
{
    adm_flow_table_rec_t *table = adm_flow_table(segment, zone);
    const adm_ask_rec_t *ask = adm_ask_at(segment, ticket_idx);

    return table ? adm_ring_flow(table, ask->flow_idx) : NULL;
}

void adm_flow_return_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                            uint32_t ticket_idx)
{
    adm_ask_rec_t *ask = adm_ask_at(segment, ticket_idx);
    adm_flow_rec_t *flow = flow_of(segment, zone, ticket_idx);
    adm_flow_queue_rec_t *queue;

    if (flow) {
        queue = &flow->queues[priority_of(ask)];
        count_cost(zone, adm_flow_table(segment, zone), flow, ask, -1);
        restore_cost(ask);
        count_waiter(adm_flow_table(segment, zone), flow, ask, 1);
        link_ask(segment, queue, ticket_idx,
                 find_position(segment, queue, ask));
        /* The flow gets its position back, too. */
        move_flow(segment, adm_flow_table(segment, zone), ask->flow_idx,
                  ADM_RING_FIRST);
    }
}

void adm_flow_leave_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                           uint32_t ticket_idx)
{
    const adm_ask_rec_t *ask = adm_ask_at(segment, ticket_idx);
    adm_flow_rec_t *flow = flow_of(segment, zone, ticket_idx);

    if (flow) {
        unlink_ask(segment, &flow->queues[priority_of(ask)], ask);
        count_waiter(adm_flow_table(segment, zone), flow, ask, -1);
        update_ring(segment, adm_flow_table(segment, zone), ask->flow_idx,
                    priority_of(ask));
    }
}

void adm_flow_grant_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                           uint32_t ticket_idx)
{
    adm_flow_table_rec_t *table = adm_flow_table(segment, zone);
    const adm_ask_rec_t *ask = adm_ask_at(segment, ticket_idx);
    adm_flow_rec_t *flow = flow_of(segment, zone, ticket_idx);

    if (flow) {
        unlink_ask(segment, &flow->queues[priority_of(ask)], ask);
        count_waiter(table, flow, ask, -1);
        adm_ring_note_turn(table, flow->rings[priority_of(ask)] - 1U);
        count_cost(zone, table, flow, ask, 1);
        move_flow(segment, table, ask->flow_idx, ADM_RING_LAST);
    }
}

void adm_flow_hold_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                          uint32_t ticket_idx)
{
    adm_flow_table_rec_t *table = adm_flow_table(segment, zone);
    adm_ask_rec_t *ask = adm_ask_at(segment, ticket_idx);

    if (table) {
        uint32_t idx = join_flow(table, ask);

        count_cost(zone, table, adm_ring_flow(table, idx), ask, 1);
        move_flow(segment, table, idx, ADM_RING_LAST);
    }
}

void adm_flow_drop_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                          uint32_t ticket_idx)
{
    const adm_ask_rec_t *ask = adm_ask_at(segment, ticket_idx);
    adm_flow_rec_t *flow = flow_of(segment, zone, ticket_idx);

    if (flow) {
        count_cost(zone, adm_flow_table(segment, zone), flow, ask, -1);
        move_flow(segment, adm_flow_table(segment, zone), ask->flow_idx,
                  ADM_RING_LAST);
    }
}

void adm_flow_clear_locked(adm_segment_t *segment, adm_zone_rec_t *zone)
{
    adm_flow_table_rec_t *table = adm_flow_table(segment, zone);

    /* Without the check, an unused zone would touch its pages. */
    if (table && table->is_touched) {
        memset(table, 0, sizeof(*table));
    }
    ADM_FAULT(flows_forgotten);
}

/* ---- entering ------------------------------------------------------------- */

bool adm_flow_has_permits_for(const adm_zone_rec_t *zone,
                              const adm_entry_t *entry)
{
    const adm_ask_rec_t asked = ask_of(entry);
    uint32_t limit = adm_limit_effective(zone);
    uint32_t active = atomic_load_explicit(&zone->active, memory_order_relaxed);

    return active < limit && adm_flow_need(&asked, limit) <= limit - active;
}

static bool is_within_max(const adm_flow_rec_t *flow, const adm_entry_t *entry)
{
    const adm_ask_rec_t asked = ask_of(entry);

    return asked.max == 0 || flow->held + most_of_key(&asked) <= asked.max;
}

adm_outcome_t adm_flow_decide_locked(adm_segment_t *segment,
                                     const adm_zone_rec_t *zone,
                                     const adm_entry_t *entry)
{
    adm_flow_table_rec_t *table = adm_flow_table(segment, zone);
    uint32_t queued = atomic_load_explicit(&zone->queued, memory_order_relaxed);
    uint32_t length = adm_limit_queue_length(zone, entry->queue_length);
    const adm_flow_rec_t *flow;
    bool is_free;

    if (!table) {
        return ADM_FULL; /* corrupt memory */
    }
    flow = &table->flows[find_flow(table, entry->key) - 1];
    is_free = !adm_ring_is_any_next(table)
              && adm_flow_has_permits_for(zone, entry);
    if (is_free && flow->waiting == 0 && is_within_max(flow, entry)) {
        return ADM_ADMITTED;
    }
    if (queued < length) {
        return entry->key && flow->waiting >= length - queued ? ADM_SHARE
                                                              : ADM_WAITING;
    }
    return is_free ? ADM_SHARE : ADM_FULL;
}

uint32_t adm_flow_waiting(const adm_flow_table_rec_t *table, uint64_t key)
{
    return table->flows[find_flow(table, key) - 1].waiting;
}

uint64_t adm_flow_turns_before(const adm_flow_table_rec_t *table, uint64_t key)
{
    const adm_flow_rec_t *flow = &table->flows[find_flow(table, key) - 1];
    uint64_t flows = (uint64_t)table->waiting_flows + (flow->waiting == 0);

    return ((uint64_t)flow->waiting + 1) * flows - 1;
}
