/* fair_flow.c - state of each key of a fair queue, and what its tickets ask
 * for.
 */
#include <string.h>

#include "core/adm_fault.h"
#include "fair_flow.h"
#include "core/adm_layout.h"
#include "core/adm_limit.h"
#include "core/adm_link.h"
#include "fair_ring.h"
#include "core/adm_number.h"

/* ---- asks ----------------------------------------------------------------- */

/* @return the permits requested, bounded by the key's maximum. */
static uint32_t most_of_key(const adm_ask_rec_t *ask)
{
    return ask->max && ask->max < ask->asked ? ask->max : ask->asked;
}

uint32_t fair_flow_need(const adm_ask_rec_t *ask, uint32_t limit)
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

adm_ask_rec_t fair_flow_ask_of(const adm_entry_t *entry)
{
    return (adm_ask_rec_t){
        .key = entry->key,
        .asked = adm_to_16_bits(entry->cost ? entry->cost : 1),
        .max = adm_to_16_bits(entry->key_max),
        .priority = (uint8_t)(entry->priority % ADM_PRIORITIES)
    };
}

void fair_flow_set_cost_locked(adm_segment_t *segment, uint32_t ticket_idx,
                               uint32_t limit)
{
    adm_ask_rec_t *ask = adm_ask_at(segment, ticket_idx);

    ask->cost = adm_to_16_bits(fair_flow_need(ask, limit));
}

void fair_flow_ask_locked(adm_segment_t *segment, const adm_entry_t *entry,
                          uint32_t ticket_idx, uint32_t limit)
{
    adm_ask_rec_t *ask = adm_ask_at(segment, ticket_idx);

    *ask = fair_flow_ask_of(entry);
    ask->arrival = adm_ticket_at(segment, ticket_idx)->arrival;
    fair_flow_set_cost_locked(segment, ticket_idx, limit);
    copy_name(ask->name, entry->key_name);
    ADM_FAULT(ask_filled);
}

static unsigned priority_of(const adm_ask_rec_t *ask)
{
    return ask->priority % ADM_PRIORITIES; /* the memory can be corrupt */
}

adm_entry_t fair_flow_entry_of(const adm_segment_t *segment,
                               uint32_t ticket_idx, char name[ADM_KEY_NAME])
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

/* Add (sign 1) or subtract (-1) a waiting ticket in its size class. */
static void count_in_class(adm_flow_table_rec_t *table,
                           const adm_ask_rec_t *ask, int sign)
{
    uint32_t most = most_of_key(ask);
    adm_waiting_rec_t *waiting =
        &table->waiting[priority_of(ask)][fair_flow_size_of(most)];

    waiting->tickets += (uint32_t)sign;
    waiting->cost += (uint32_t)sign * most;
}

void fair_flow_repair_ask_locked(adm_segment_t *segment, uint32_t ticket_idx)
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
    uint32_t first = (uint32_t)(key % FAIR_FLOW_SETS) * FAIR_FLOW_WAYS;
    uint32_t way, unused = FAIR_FLOW_WAYS;

    for (way = 0; way < FAIR_FLOW_WAYS; way++) {
        const fair_flow_rec_t *flow = &table->flows[first + way];

        if (flow->held == 0 && flow->waiting == 0) {
            unused = unused < way ? unused : way;
        }
        else if (flow->key == key) {
            return first + way + 1;
        }
    }
    if (unused == FAIR_FLOW_WAYS) {
        return first + (uint32_t)(key / FAIR_FLOW_SETS % FAIR_FLOW_WAYS) + 1;
    }
    return first + unused + 1;
}

const fair_flow_rec_t *fair_flow_of_key(const adm_flow_table_rec_t *table,
                                        uint64_t key)
{
    return &table->flows[find_flow(table, key) - 1];
}

/* Assign a flow to a ticket. */
static void join_flow(adm_flow_table_rec_t *table, adm_ask_rec_t *ask)
{
    uint32_t idx = find_flow(table, ask->key);
    fair_flow_rec_t *flow = fair_ring_flow(table, idx);

    if (flow->held == 0 && flow->waiting == 0) {
        table->is_touched = 1;
        flow->key = ask->key;
        memcpy(table->names[idx - 1], ask->name, ADM_KEY_NAME);
    }
    ask->flow_idx = (uint16_t)idx;
}

bool fair_flow_is_below_max(const adm_ask_rec_t *ask, uint32_t held)
{
    return ask && (ask->max == 0 || held + most_of_key(ask) <= ask->max);
}

/* Put a flow into the ring for the number of permits that it holds; into none
 * if no ticket waits or its key's maximum is reached. A flow that is in a ring
 * stays there unless @a moves. */
static void update_ring(adm_segment_t *segment, adm_flow_table_rec_t *table,
                        uint32_t flow_idx, unsigned priority, unsigned kind,
                        enum fair_ring_end_t end, bool moves)
{
    const fair_flow_rec_t *flow = fair_ring_flow(table, flow_idx);
    uint32_t head_idx = flow->queues[priority].head_idx;

    if (!fair_flow_is_below_max(adm_ask_at(segment, head_idx), flow->held)) {
        fair_ring_take(table, flow_idx, priority);
    }
    else if (moves || !flow->rings[priority]) {
        fair_ring_put(table, flow_idx, priority, kind, end);
    }
}

/* Move a flow to the rings for the number of permits that it holds now. */
static void move_flow(adm_segment_t *segment, adm_flow_table_rec_t *table,
                      uint32_t flow_idx, enum fair_ring_end_t end)
{
    const fair_flow_rec_t *flow = fair_ring_flow(table, flow_idx);
    unsigned priority;

    for (priority = 0; priority < ADM_PRIORITIES; priority++) {
        if (flow->queues[priority].head_idx || flow->rings[priority]) {
            update_ring(segment, table, flow_idx, priority, FAIR_RING_OTHERS,
                        end, true);
        }
    }
}

/* Add (sign 1) or subtract (-1) a ticket's permits. Its first permit is already
 * counted in `active`. */
static void count_cost(adm_zone_rec_t *zone, adm_flow_table_rec_t *table,
                       fair_flow_rec_t *flow, const adm_ask_rec_t *ask,
                       int sign)
{
    table->holding += (uint32_t)sign;
    adm_count_locked(&zone->active, sign * (ask->cost - 1));
    flow->held += (uint32_t)(sign * ask->cost);
}

static void count_waiter(adm_flow_table_rec_t *table, fair_flow_rec_t *flow,
                         const adm_ask_rec_t *ask, int sign)
{
    bool had_waiters = flow->waiting != 0;

    flow->waiting += (uint32_t)sign;
    count_in_class(table, ask, sign);
    table->waiting_flows += (uint32_t)((flow->waiting != 0) - had_waiters);
}

void fair_flow_change_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             uint32_t ticket_idx, enum fair_flow_part_t from,
                             enum fair_flow_part_t to)
{
    adm_flow_table_rec_t *table = fair_flow_table(segment, zone);
    adm_ask_rec_t *ask = adm_ask_at(segment, ticket_idx);
    unsigned priority = priority_of(ask);
    fair_flow_rec_t *flow;
    adm_list_t asks = { .segment = segment,
                        .links = &segment->ask_recs->prev_idx };
    bool is_unseen;

    if (table && from == FAIR_FLOW_OUT) {
        join_flow(table, ask);
    }
    flow = table ? fair_ring_flow(table, ask->flow_idx) : NULL;
    if (!flow) {
        return; /* corrupt memory */
    }
    is_unseen = flow->held == 0 && flow->waiting == 0;
    asks.head_idx = &flow->queues[priority].head_idx;
    asks.tail_idx = &flow->queues[priority].tail_idx;
    if (from == FAIR_FLOW_WAITS) {
        adm_link_remove_locked(asks, ticket_idx);
        count_waiter(table, flow, ask, -1);
    }
    if (from == FAIR_FLOW_WAITS && to == FAIR_FLOW_HOLDS) {
        fair_ring_note_turn(table, flow->rings[priority] - 1U);
    }
    if (from == FAIR_FLOW_HOLDS || to == FAIR_FLOW_HOLDS) {
        count_cost(zone, table, flow, ask, to == FAIR_FLOW_HOLDS ? 1 : -1);
    }
    if (to == FAIR_FLOW_WAITS) {
        count_waiter(table, flow, ask, 1);
        adm_link_insert_locked(asks, ticket_idx);
        ADM_FAULT(flow_linked);
    }
    if (from == FAIR_FLOW_HOLDS || to == FAIR_FLOW_HOLDS) {
        /* A flow whose permits were passed on gets its position back. */
        move_flow(segment, table, ask->flow_idx,
                  to == FAIR_FLOW_WAITS ? FAIR_RING_FIRST : FAIR_RING_LAST);
    }
    else {
        update_ring(segment, table, ask->flow_idx, priority,
                    is_unseen ? FAIR_RING_UNSEEN : FAIR_RING_OTHERS,
                    FAIR_RING_LAST, false);
    }
}

void fair_flow_clear_locked(adm_segment_t *segment, adm_zone_rec_t *zone)
{
    adm_flow_table_rec_t *table = fair_flow_table(segment, zone);

    /* Without the check, an unused zone would touch its pages. */
    if (table && table->is_touched) {
        memset(table, 0, sizeof(*table));
    }
    ADM_FAULT(flows_forgotten);
}

/* ---- entering ------------------------------------------------------------- */

bool fair_flow_fits(const adm_zone_rec_t *zone, const adm_ask_rec_t *ask)
{
    uint32_t limit = adm_limit_effective(zone);
    uint32_t active = atomic_load_explicit(&zone->active, memory_order_relaxed);

    return active < limit && fair_flow_need(ask, limit) <= limit - active;
}

adm_outcome_t fair_flow_decide_locked(adm_segment_t *segment,
                                      const adm_zone_rec_t *zone,
                                      const adm_entry_t *entry)
{
    adm_flow_table_rec_t *table = fair_flow_table(segment, zone);
    uint32_t queued = atomic_load_explicit(&zone->queued, memory_order_relaxed);
    uint32_t length = adm_limit_queue_length(zone, entry->queue_length);
    const adm_ask_rec_t ask = fair_flow_ask_of(entry);
    const fair_flow_rec_t *flow;
    bool is_free;

    if (!table) {
        return ADM_FULL; /* corrupt memory */
    }
    flow = fair_flow_of_key(table, entry->key);
    is_free = !fair_ring_is_any_next(table) && fair_flow_fits(zone, &ask);
    if (is_free && flow->waiting == 0
        && (ask.max == 0 || flow->held + most_of_key(&ask) <= ask.max)) {
        return ADM_ADMITTED;
    }
    if (queued < length) {
        /* A key gets a slot only while it has fewer slots than are free. */
        return entry->key && flow->waiting >= length - queued ? ADM_SHARE
                                                              : ADM_WAITING;
    }
    return is_free ? ADM_SHARE /* only its key prevents it */ : ADM_FULL;
}

uint64_t fair_flow_turns_before(const adm_flow_table_rec_t *table, uint64_t key)
{
    const fair_flow_rec_t *flow = fair_flow_of_key(table, key);
    uint64_t flows = (uint64_t)table->waiting_flows + (flow->waiting == 0);

    return ((uint64_t)flow->waiting + 1) * flows - 1;
}
