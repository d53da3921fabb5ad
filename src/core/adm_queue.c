/* adm_queue.c - a zone's queue: its WAITING tickets, by arrival.
 * Called by adm_zone and adm_pool, under the zone's lock.
 */
#include "adm_link.h"
#include "adm_queue.h"

static adm_list_t queue_of(adm_segment_t *segment, adm_zone_rec_t *zone)
{
    return (adm_list_t){ .segment = segment,
                         .links = &segment->ticket_recs->prev_idx,
                         .head_idx = &zone->head_idx,
                         .tail_idx = &zone->tail_idx };
}

void adm_queue_append_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             uint32_t ticket_idx)
{
    adm_list_t queue = queue_of(segment, zone);

    adm_link_insert_locked(&queue, ticket_idx, zone->tail_idx);
}

void adm_queue_insert_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             uint32_t ticket_idx)
{
    adm_list_t queue = queue_of(segment, zone);
    uint64_t arrival = adm_ticket_at(segment, ticket_idx)->arrival;

    adm_link_insert_locked(&queue, ticket_idx,
                           adm_link_before_locked(&queue, arrival));
}

void adm_queue_unlink_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             uint32_t ticket_idx)
{
    adm_list_t queue = queue_of(segment, zone);

    adm_link_remove_locked(&queue, ticket_idx);
}

/* ---- rebuild ------------------------------------------------------------- */

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

void adm_queue_sort_in(adm_segment_t *segment, uint32_t runs[ADM_QUEUE_RUNS],
                       uint32_t ticket_idx)
{
    uint32_t sorted = ticket_idx;
    unsigned n;

    adm_ticket_at(segment, ticket_idx)->next_idx = 0;
    for (n = 0; n < ADM_QUEUE_RUNS - 1 && runs[n]; n++) {
        sorted = merge_by_arrival(segment, runs[n], sorted);
        runs[n] = 0;
    }
    runs[n] = sorted;
}

void adm_queue_link_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                           const uint32_t runs[ADM_QUEUE_RUNS])
{
    uint32_t idx = 0, prev_idx = 0;
    unsigned n;

    for (n = 0; n < ADM_QUEUE_RUNS; n++) {
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
