/* adm_check.c - verify the invariants of docs/dev/shared-memory.md.
 * Linked by tests.
 *
 * Reads all records and takes no lock: no other process may use the segment meanwhile.
 */
#include <stdlib.h>
#include <string.h>

#include "adm_check.h"
#include "auto/auto_shm.h"
#include "spool/spool_shm.h"
#include "fair/fair_flow.h"
#include "core/adm_layout.h"
#include "core/adm_limit.h"
#include "fair/fair_ring.h"
#include "core/adm_segment.h"
#include "fair/fair_search.h"

/* The first fault ends the check. */
#define REFUSE(condition, complaint) \
    do {                             \
        if (condition) {             \
            return complaint;        \
        }                            \
    } while (0)

#define NEED_NONE(check)           \
    do {                           \
        const char *wrong = check; \
        REFUSE(wrong, wrong);      \
    } while (0)

/* ---- tickets and flows ---------------------------------------------------- */

typedef struct flow_sum_t {
    adm_waiting_rec_t of_sizes[ADM_PRIORITIES][ADM_COST_SIZES];
    uint32_t holding;
    uint32_t held[ADM_FLOWS];
    uint32_t waiting[ADM_FLOWS];
} flow_sum_t;

static const char *add_ticket(const adm_segment_t *segment, uint32_t ticket_idx, flow_sum_t *sum)
{
    const adm_ticket_rec_t *ticket = adm_ticket_at(segment, ticket_idx);
    const adm_ask_rec_t *ask = adm_ask_at(segment, ticket_idx);
    uint32_t state = atomic_load(&ticket->state);
    adm_waiting_rec_t *of_size;

    if (state == ADM_TICKET_FREE) {
        return NULL;
    }
    REFUSE(ask->arrival != ticket->arrival, "the ask of a ticket is that of another one");
    REFUSE(ask->cost == 0 || ask->cost > ask->asked,
           "a ticket asks for no permit, or takes more than it asks for");
    REFUSE(ask->flow_idx - 1U >= ADM_FLOWS
               || (ask->flow_idx - 1U) / FAIR_FLOW_WAYS != ask->key % FAIR_FLOW_SETS,
           "a ticket is in no flow of its key");
    if (state == ADM_TICKET_WAITING) {
        uint32_t need = fair_flow_need(ask, UINT32_MAX);

        sum->waiting[ask->flow_idx - 1]++;
        of_size = &sum->of_sizes[ask->priority % ADM_PRIORITIES][fair_flow_size_of(need)];
        of_size->tickets++;
        of_size->cost += need;
    }
    else {
        sum->holding++;
        sum->held[ask->flow_idx - 1] += ask->cost;
    }
    return NULL;
}

static const char *check_flow_queue(const adm_segment_t *segment, const adm_flow_table_rec_t *table,
                                    uint32_t flow_idx, unsigned priority, uint32_t *waiting)
{
    const fair_flow_queue_rec_t *queue = &table->flows[flow_idx - 1].queues[priority];
    uint32_t idx = queue->head_idx, prev_idx = 0;
    uint64_t last_arrival = 0;

    for (; idx; idx = adm_ask_at(segment, idx)->next_idx) {
        const adm_ask_rec_t *ask = adm_ask_at(segment, idx);

        REFUSE(!ask || ++*waiting > segment->sizes.tickets || ask->flow_idx != flow_idx
                   || ask->priority != priority
                   || atomic_load(&adm_ticket_at(segment, idx)->state) != ADM_TICKET_WAITING,
               "a ticket in the queue of a flow does not wait there");
        REFUSE(ask->prev_idx != prev_idx, "the queue of a flow is not linked both ways");
        REFUSE(prev_idx && ask->arrival <= last_arrival,
               "the queue of a flow is not in order of arrival");
        last_arrival = ask->arrival;
        prev_idx = idx;
    }
    return queue->tail_idx == prev_idx ? NULL : "the tail of a flow's queue is not its last";
}

static const char *check_flow(const adm_segment_t *segment, const adm_flow_table_rec_t *table,
                              uint32_t flow_idx, const flow_sum_t *sum)
{
    const fair_flow_rec_t *flow = &table->flows[flow_idx - 1];
    uint32_t waiting = 0;
    unsigned priority;

    for (priority = 0; priority < ADM_PRIORITIES; priority++) {
        const adm_ask_rec_t *head = adm_ask_at(segment, flow->queues[priority].head_idx);
        bool is_next = fair_flow_is_below_max(head, flow->held);

        NEED_NONE(check_flow_queue(segment, table, flow_idx, priority, &waiting));
        REFUSE(is_next != (flow->rings[priority] != 0),
               "a flow is in a ring and may not be next, or the reverse");
    }
    REFUSE(flow->held != sum->held[flow_idx - 1], "a flow and the permits of its tickets differ");
    REFUSE(flow->waiting != sum->waiting[flow_idx - 1] || flow->waiting != waiting,
           "a flow and its waiting tickets differ");
    return NULL;
}

static const char *check_sums(const adm_flow_table_rec_t *table, const flow_sum_t *sum)
{
    uint32_t flows = 0, n;

    for (n = 0; n < ADM_FLOWS; n++) {
        flows += table->flows[n].waiting != 0;
    }
    return table->waiting_flows == flows && table->holding == sum->holding
                   && memcmp(table->waiting, sum->of_sizes, sizeof(table->waiting)) == 0
               ? NULL
               : "a sum over the flows and these differ";
}

/* ---- rings ---------------------------------------------------------------- */

static const char *check_ring(const adm_flow_table_rec_t *table, unsigned priority, unsigned kind,
                              unsigned level, uint32_t *in_rings)
{
    unsigned number = fair_ring_number(priority, kind, level);
    const fair_ring_rec_t *ring = &table->rings[number];
    bool is_set = table->levels[priority][kind] >> level & 1;
    uint32_t idx = ring->first_idx, prev_idx = 0;

    REFUSE(is_set != (idx != 0), "the mask of a level and its ring differ");
    while (idx) {
        const fair_flow_rec_t *flow = &table->flows[(idx - 1) % ADM_FLOWS];
        uint32_t held = flow->held < FAIR_FLOW_LEVELS - 1 ? flow->held : FAIR_FLOW_LEVELS - 1;

        REFUSE(flow->rings[priority] != number + 1 || held != level
                   || ++*in_rings > ADM_PRIORITIES * ADM_FLOWS,
               "a flow is not in the ring of its level");
        REFUSE(flow->queues[priority].prev_idx != prev_idx, "a ring is not linked both ways");
        prev_idx = idx;
        idx = flow->queues[priority].next_idx;
    }
    return ring->last_idx == prev_idx ? NULL : "the end of a ring is not its last";
}

static const char *check_rings(const adm_flow_table_rec_t *table)
{
    uint32_t in_rings = 0, recorded = 0, flow;
    unsigned priority, kind, level;

    for (priority = 0; priority < ADM_PRIORITIES; priority++) {
        for (kind = 0; kind < FAIR_RING_KINDS; kind++) {
            for (level = 0; level < FAIR_FLOW_LEVELS; level++) {
                NEED_NONE(check_ring(table, priority, kind, level, &in_rings));
            }
        }
        for (flow = 0; flow < ADM_FLOWS; flow++) {
            recorded += table->flows[flow].rings[priority] != 0;
        }
    }
    return in_rings == recorded ? NULL : "a flow records that it is in a ring, and is not";
}

/* The zone's queue has to be in order already. */
static const char *check_flows(const adm_segment_t *segment, const adm_zone_rec_t *zone,
                               const flow_sum_t *sum)
{
    const adm_flow_table_rec_t *table = fair_flow_table(segment, zone);
    adm_winner_t winner;
    uint32_t idx;

    REFUSE(!table, NULL);
    for (idx = 1; idx <= ADM_FLOWS; idx++) {
        NEED_NONE(check_flow(segment, table, idx, sum));
    }
    NEED_NONE(check_sums(table, sum));
    NEED_NONE(check_rings(table));
    winner = fair_search_winner_locked(segment, zone);
    REFUSE(winner.is_broken, "the next request cannot be found");
    REFUSE(winner.idx && fair_flow_fits(zone, adm_ask_at(segment, winner.idx)),
           "a request waits although a permit is free");
    return NULL;
}

/* ---- zones ---------------------------------------------------------------- */

typedef struct census_t {
    const adm_zone_rec_t *zone;
    uint32_t active, queued, orphans, granted, free, left;
    uint64_t last_arrival;
    adm_usec_t since_min; /* of requests that hold permits */
    flow_sum_t flows;
} census_t;

/* Until that is settled since_usec is when its wait began. */
static bool has_just_begun(const adm_ticket_rec_t *ticket)
{
    adm_usec_t begun = atomic_load(&ticket->begun_usec);

    return begun != 0 && begun > ticket->since_usec;
}

static const char *count_ticket(const adm_segment_t *segment, uint32_t ticket_idx, census_t *census)
{
    const adm_ticket_rec_t *ticket = adm_ticket_at(segment, ticket_idx);
    uint32_t cost = fair_flow_cost(segment, census->zone, ticket_idx);
    const adm_child_rec_t *child;
    uint32_t state = atomic_load(&ticket->state);

    switch (state) {
    case ADM_TICKET_FREE:
        census->free++;
        return NULL;
    case ADM_TICKET_WAITING:
        census->queued++;
        break;
    case ADM_TICKET_GRANTED:
        census->granted++;
        /* fall through */
    case ADM_TICKET_ACTIVE:
        census->active += cost;
        break;
    case ADM_TICKET_ORPHANED:
        census->active += cost;
        census->orphans++;
        break;
    default:
        return "a ticket has no known state";
    }
    if ((state == ADM_TICKET_ORPHANED || (state == ADM_TICKET_ACTIVE && !has_just_begun(ticket)))
        && ticket->since_usec < census->since_min) {
        census->since_min = ticket->since_usec;
    }
    if (ticket->arrival > census->last_arrival) {
        census->last_arrival = ticket->arrival;
    }
    if (state == ADM_TICKET_ORPHANED) {
        return NULL;
    }
    census->left += adm_ticket_was_left(ticket);
    child = adm_child_at(segment, ticket->child_idx);
    REFUSE(!child || adm_life_state(atomic_load(&child->life)) == ADM_LIFE_FREE,
           "a ticket names no child");
    return NULL;
}

static const char *take_census(const adm_segment_t *segment, uint32_t zone_idx, census_t *census)
{
    uint32_t chunk, n;

    for (chunk = 0; chunk < segment->chunks; chunk++) {
        if (atomic_load(&segment->chunk_recs[chunk].zone_idx) != zone_idx) {
            continue;
        }
        REFUSE(chunk >= atomic_load(&segment->header->chunks_used),
               "a chunk in use lies beyond chunks_used");
        for (n = 0; n < ADM_CHUNK_TICKETS; n++) {
            uint32_t idx = chunk * ADM_CHUNK_TICKETS + 1 + n;

            NEED_NONE(count_ticket(segment, idx, census));
            if (fair_flow_table(segment, census->zone)) {
                NEED_NONE(add_ticket(segment, idx, &census->flows));
            }
        }
    }
    return NULL;
}

static const char *check_queue(const adm_segment_t *segment, const adm_zone_rec_t *zone,
                               uint32_t queued)
{
    uint32_t idx = zone->head_idx, prev_idx = 0, length = 0;
    uint64_t last_arrival = 0;

    while (idx && length <= queued) {
        const adm_ticket_rec_t *ticket = adm_ticket_at(segment, idx);

        REFUSE(!ticket || atomic_load(&ticket->state) != ADM_TICKET_WAITING,
               "a ticket in the queue does not wait");
        REFUSE(ticket->prev_idx != prev_idx, "the queue is not linked both ways");
        REFUSE(length && ticket->arrival <= last_arrival, "the queue is not in order of arrival");
        last_arrival = ticket->arrival;
        prev_idx = idx;
        idx = ticket->next_idx;
        length++;
    }
    REFUSE(length != queued, "the queue and the waiting tickets differ");
    return zone->tail_idx == prev_idx ? NULL : "the queue's tail is not its last";
}

/* Tickets that have begun may still be in the list. */
static const char *check_grants(const adm_segment_t *segment, const adm_zone_rec_t *zone,
                                uint32_t active, uint32_t granted)
{
    uint32_t idx = zone->granted_idx, prev_idx = 0, length = 0, seen = 0;

    while (idx && length <= active) {
        const adm_ticket_rec_t *ticket = adm_ticket_at(segment, idx);
        uint32_t state = ticket ? atomic_load(&ticket->state) : ADM_TICKET_FREE;

        REFUSE(state != ADM_TICKET_GRANTED && state != ADM_TICKET_ACTIVE,
               "a ticket in the list of grants holds no permit");
        REFUSE(ticket->prev_idx != prev_idx, "the grants are not linked both ways");
        seen += state == ADM_TICKET_GRANTED;
        prev_idx = idx;
        idx = ticket->next_idx;
        length++;
    }
    REFUSE(length > active, "more grants are listed than permits are out");
    REFUSE(seen && atomic_load(&zone->lease_until) == 0, "a grant has no lease");
    return seen == granted ? NULL : "a grant is not listed";
}

static const char *check_free(const adm_segment_t *segment, const adm_zone_rec_t *zone,
                              uint32_t free)
{
    uint32_t idx = zone->free_idx;
    uint32_t count = zone->fresh_idx ? zone->fresh_end_idx - zone->fresh_idx : 0;

    while (idx && count <= free) {
        const adm_ticket_rec_t *ticket = adm_ticket_at(segment, idx);

        REFUSE(!ticket || atomic_load(&ticket->state) != ADM_TICKET_FREE,
               "a ticket on the free list is in use");
        idx = ticket->next_idx;
        count++;
    }
    return count == free ? NULL : "an unused ticket is on no list, or on two";
}

/* The parent sets which limits are automatic. A process that is killed while it writes
 * leaves an odd sequence number. */
static const char *check_auto(const adm_segment_t *segment, uint32_t zone_idx)
{
    const adm_zone_rec_t *zone = adm_zone_at(segment, zone_idx);
    const auto_rec_t *rec = auto_rec_at(segment, (adm_zone_t){ .idx = zone_idx });
    unsigned began = atomic_load(&zone->measured_began);

    REFUSE(atomic_load(&zone->limits[ADM_LIMIT_AUTO]) == 1, "an automatic limit is 0");
    REFUSE(atomic_load(&zone->limits[ADM_LIMIT_AUTO]) != 0 && began == 0,
           "an automatic limit is set that is not configured");
    return atomic_load(&rec->of_began) > began ? "the state of a limit is newer than the limit"
                                               : NULL;
}

static const char *check_watch(const adm_zone_rec_t *zone)
{
    unsigned watch = atomic_load(&zone->watch);
    bool waits = atomic_load(&zone->queued) > 0;
    uint32_t active = atomic_load(&zone->active), bound = atomic_load(&zone->share_bound);
    bool is_back = bound != UINT32_MAX && active < bound; /* UINT32_MAX: no promise yet */

    REFUSE(watch & ~(ADM_WATCH_ENTER | ADM_WATCH_QUEUE | ADM_WATCH_BACK),
           "a zone watches for an unknown event");
    REFUSE((watch & ADM_WATCH_ENTER && (waits || active > 0)) || (watch & ADM_WATCH_QUEUE && waits)
               || (watch & ADM_WATCH_BACK && is_back),
           "the event that the agent waits for happened, and the agent was not woken");
    return NULL;
}

static const char *check_zone(const adm_segment_t *segment, uint32_t zone_idx)
{
    const adm_zone_rec_t *zone = adm_zone_at(segment, zone_idx);
    census_t census = { .zone = zone, .since_min = INT64_MAX };

    NEED_NONE(take_census(segment, zone_idx, &census));
    REFUSE(atomic_load(&zone->active) != census.active,
           "active and the tickets that hold permits differ");
    REFUSE(census.since_min < zone->busy_since_usec,
           "a permit is held for longer than the zone is busy");
    REFUSE(atomic_load(&zone->queued) != census.queued, "queued and the waiting tickets differ");
    REFUSE(atomic_load(&zone->orphans) != census.orphans,
           "orphans and the orphaned tickets differ");
    REFUSE(census.left && !atomic_load(&zone->has_left),
           "a ticket was left, and its zone does not record it");
    REFUSE(atomic_load(&zone->mode) >= ADM_MODES, "a zone has no known mode");
    REFUSE((zone->queued_since != 0) != (census.queued > 0),
           "the queue has a start time without tickets, or none with tickets");
    REFUSE(atomic_load(&zone->unguarded_idx) > segment->sizes.children,
           "a grant without a watcher belongs to no child");
    REFUSE(!fair_flow_is_used(zone) && census.queued && census.active < adm_limit_effective(zone),
           "a request waits although a permit is free");
    REFUSE(adm_limit_of_source(zone, ADM_LIMIT_SHARE) != ADM_LIMIT_NONE
               && atomic_load(&zone->share_fallback) != ADM_FALLBACK_OPEN
               && adm_limit_of_source(zone, ADM_LIMIT_SHARE) > atomic_load(&zone->share_bound),
           "a share is larger than the commitment");
    REFUSE(census.active + census.queued && census.last_arrival >= zone->next_arrival,
           "the next arrival would not be the last");
    NEED_NONE(check_watch(zone));
    NEED_NONE(check_queue(segment, zone, census.queued));
    NEED_NONE(check_grants(segment, zone, census.active, census.granted));
    NEED_NONE(check_auto(segment, zone_idx));
    NEED_NONE(check_free(segment, zone, census.free));
    return check_flows(segment, zone, &census.flows);
}

/* A child releases no more than it took. */
static const char *check_child(const adm_segment_t *segment, uint32_t idx)
{
    const adm_child_rec_t *rec = adm_child_at(segment, idx);

    if (adm_life_state(atomic_load(&rec->life)) != ADM_LIFE_LIVE) {
        return NULL;
    }
    REFUSE(atomic_load(&rec->cleared_as) != adm_life_sequence(atomic_load(&rec->life)),
           "a living child has the record of an earlier one");
    REFUSE(spool_bytes_of(segment, idx) > INT64_MAX, "a child buffers less than nothing");
    REFUSE(atomic_load(&rec->transfers) > INT32_MAX, "a child transfers less than nothing");
    return NULL;
}

const char *adm_check(adm_segment_t *segment)
{
    uint32_t used = atomic_load(&segment->header->zones_used);
    uint32_t idx;

    REFUSE(!adm_segment_is_ours(segment), "the header is not ours");
    REFUSE(used > segment->sizes.zones, "more zones are in use than there are");
    for (idx = 1; idx <= used; idx++) {
        NEED_NONE(check_zone(segment, idx));
    }
    for (idx = 1; idx <= segment->sizes.children; idx++) {
        NEED_NONE(check_child(segment, idx));
    }
    return NULL;
}
