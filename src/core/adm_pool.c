/* adm_pool.c - a zone's tickets: allocate, free, rebuild the caches.
 * Called by adm_zone, under the zone's lock.
 *
 * Lists and counts are caches. If a link is invalid, or the lock's last owner
 * died, they are derived again from the tickets, which are authoritative.
 */
#include "adm_fault.h"
#include "fair/fair_flow.h"
#include "adm_layout.h"
#include "adm_link.h"
#include "adm_pool.h"

/* ---- unused tickets ------------------------------------------------------- */

/* Claim a free chunk. Its tickets become the zone's fresh ones. */
static bool claim_chunk_locked(adm_segment_t *segment, adm_zone_rec_t *zone)
{
    uint32_t idx = adm_zone_idx(segment, zone);
    uint32_t chunk = atomic_load(&segment->header->chunks_used);

    for (; chunk < segment->chunks; chunk++) {
        uint32_t unowned = 0;

        if (atomic_compare_exchange_strong(&segment->chunk_recs[chunk].zone_idx,
                                           &unowned, idx)) {
            ADM_FAULT(chunk_claimed);
            adm_raise(&segment->header->chunks_used, chunk + 1);
            zone->fresh_idx = chunk * ADM_CHUNK_TICKETS + 1;
            zone->fresh_end_idx = zone->fresh_idx + ADM_CHUNK_TICKETS;
            return true;
        }
    }
    return false;
}

static bool is_free(const adm_segment_t *segment, uint32_t ticket_idx)
{
    const adm_ticket_rec_t *ticket = adm_ticket_at(segment, ticket_idx);

    return ticket && atomic_load(&ticket->state) == ADM_TICKET_FREE;
}

uint32_t adm_pool_take_locked(adm_segment_t *segment, adm_zone_rec_t *zone)
{
    uint32_t idx = zone->free_idx;

    if (idx && !is_free(segment, idx)) {
        /* The list is corrupt. Rebuild it from the tickets. */
        adm_pool_rebuild_locked(segment, zone);
        idx = zone->free_idx;
    }
    if (idx) {
        zone->free_idx = adm_ticket_at(segment, idx)->next_idx;
        return idx;
    }
    if (zone->fresh_idx == 0 && !claim_chunk_locked(segment, zone)) {
        return 0;
    }
    idx = zone->fresh_idx;
    if (!is_free(segment, idx)) {
        return 0;
    }
    zone->fresh_idx = idx + 1 < zone->fresh_end_idx ? idx + 1 : 0;
    return idx;
}

void adm_pool_put_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                         uint32_t ticket_idx)
{
    adm_ticket_at(segment, ticket_idx)->next_idx = zone->free_idx;
    zone->free_idx = ticket_idx;
}

/* ---- sort the queue ------------------------------------------------------- */

/* Runs of a bottom-up merge sort: run n is a list of 2^n tickets, or empty. */
#define QUEUE_RUNS 32

/* Merge two lists linked by next_idx and sorted by arrival. */
static uint32_t merge_by_arrival(adm_segment_t *segment, uint32_t a, uint32_t b)
{
    uint32_t first = 0;
    uint32_t *link = &first;

    while (a && b) {
        uint32_t *earliest = adm_ticket_at(segment, a)->arrival
                                     <= adm_ticket_at(segment, b)->arrival
                                 ? &a
                                 : &b;

        *link = *earliest;
        link = &adm_ticket_at(segment, *earliest)->next_idx;
        *earliest = *link;
    }
    *link = a ? a : b;
    return first;
}

/* Step 1: add a WAITING ticket to @a runs. Writes only the tickets'
 * next_idx. */
static void sort_in(adm_segment_t *segment, uint32_t runs[QUEUE_RUNS],
                    uint32_t ticket_idx)
{
    uint32_t sorted = ticket_idx;
    unsigned n;

    adm_ticket_at(segment, ticket_idx)->next_idx = 0;
    for (n = 0; n < QUEUE_RUNS - 1 && runs[n]; n++) {
        sorted = merge_by_arrival(segment, runs[n], sorted);
        runs[n] = 0;
    }
    runs[n] = sorted;
}

/* Step 2: merge @a runs into the zone's queue. */
static void link_queue_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                              const uint32_t runs[QUEUE_RUNS])
{
    uint32_t idx = 0, prev_idx = 0;
    unsigned n;

    for (n = 0; n < QUEUE_RUNS; n++) {
        idx = merge_by_arrival(segment, runs[n], idx);
    }
    zone->head_idx = idx;
    while (idx) {
        adm_ticket_rec_t *ticket = adm_ticket_at(segment, idx);

        ticket->prev_idx = prev_idx;
        prev_idx = idx;
        idx = ticket->next_idx;
    }
    zone->tail_idx = prev_idx;
}

/* ---- rebuild -------------------------------------------------------------- */

typedef struct recount_t {
    uint32_t active, queued, orphans;
    bool has_left;
    uint64_t last_arrival;
    adm_usec_t busy_since;
    uint32_t runs[QUEUE_RUNS];
} recount_t;

/* Put a GRANTED ticket back on the list of grants; also an ACTIVE one whose
 * start is not settled. Settling copies begun_usec to since_usec, so until then
 * begun_usec is later. */
static void recount_permit(adm_segment_t *segment, adm_zone_rec_t *zone,
                           uint32_t idx, uint32_t state)
{
    adm_ticket_rec_t *ticket = adm_ticket_at(segment, idx);

    if (state == ADM_TICKET_GRANTED
        || (state == ADM_TICKET_ACTIVE
            && atomic_load(&ticket->begun_usec) > ticket->since_usec)) {
        adm_link_insert_locked(adm_grants_of(segment, zone), idx);
    }
    else {
        ticket->prev_idx = 0;
        ticket->next_idx = 0;
    }
}

/* Put waiting tickets back into their flows, in order of arrival: the oldest
 * gets the first turn of its level. */
static void relink_flows_locked(adm_segment_t *segment, adm_zone_rec_t *zone)
{
    uint32_t idx = fair_flow_is_used(zone) ? zone->head_idx : 0;

    for (; idx; idx = adm_ticket_at(segment, idx)->next_idx) {
        fair_flow_repair_ask_locked(segment, idx);
        fair_flow_change_locked(segment, zone, idx, FAIR_FLOW_OUT,
                                FAIR_FLOW_WAITS);
    }
}

/* Add a ticket to the new counts, lists and queue, by its state. */
static void recount_ticket(adm_segment_t *segment, adm_zone_rec_t *zone,
                           uint32_t idx, recount_t *counts)
{
    adm_ticket_rec_t *ticket = adm_ticket_at(segment, idx);
    uint32_t state = atomic_load(&ticket->state);

    if (state == ADM_TICKET_WAITING) {
        counts->queued++;
        sort_in(segment, counts->runs, idx);
    }
    else if (state == ADM_TICKET_GRANTED || state == ADM_TICKET_ACTIVE
             || state == ADM_TICKET_ORPHANED) {
        if (counts->active == 0 || ticket->since_usec < counts->busy_since) {
            counts->busy_since = ticket->since_usec;
        }
        if (fair_flow_is_used(zone)) {
            fair_flow_repair_ask_locked(segment, idx);
            fair_flow_change_locked(segment, zone, idx, FAIR_FLOW_OUT,
                                    FAIR_FLOW_HOLDS);
        }
        counts->active += fair_flow_cost(segment, zone, idx);
        counts->orphans += state == ADM_TICKET_ORPHANED;
        recount_permit(segment, zone, idx, state);
    }
    else {
        atomic_store(&ticket->state, ADM_TICKET_FREE);
        adm_pool_put_locked(segment, zone, idx);
        return;
    }
    if (adm_ticket_was_left(ticket)) {
        counts->has_left = true; /* not needed for an orphan */
    }
    if (ticket->arrival > counts->last_arrival) {
        counts->last_arrival = ticket->arrival;
    }
}

void adm_pool_rebuild_locked(adm_segment_t *segment, adm_zone_rec_t *zone)
{
    recount_t counts = { 0 };
    uint32_t zone_idx = adm_zone_idx(segment, zone);
    uint32_t chunk = 0, first, n;

    ADM_FAULT(rebuild_begun);
    zone->free_idx = 0; /* R1_rebuild_begun */
    zone->fresh_idx = 0;
    zone->granted_idx = 0;
    if (fair_flow_is_used(zone)) {
        fair_flow_clear_locked(segment, zone);
    }
    /* All chunks: a process might have been killed between claiming one and
     * raising chunks_used. */
    while (
        (first = adm_chunk_next(segment, zone_idx, &chunk, segment->chunks))) {
        adm_raise(&segment->header->chunks_used, chunk);
        for (n = 0; n < ADM_CHUNK_TICKETS; n++) {
            recount_ticket(segment, zone, first + n, &counts);
        }
    }
    ADM_FAULT(rebuild_counted);
    /* R2_rebuild_counted */
    link_queue_locked(segment, zone, counts.runs);
    relink_flows_locked(segment, zone);
    zone->busy_since_usec = counts.busy_since;
    atomic_store(&zone->active, counts.active);
    atomic_store(&zone->queued, counts.queued);
    atomic_store(&zone->orphans, counts.orphans);
    if (counts.has_left) {
        /* A process cleared it, then was killed. */
        atomic_store(&zone->has_left, 1);
    }
    if (zone->next_arrival <= counts.last_arrival) {
        zone->next_arrival = counts.last_arrival + 1;
    }
}
