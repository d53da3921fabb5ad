/* adm_queue.c - a zone's queue: its WAITING tickets, by arrival.
 * Called by adm_zone and adm_pool, under the zone's lock.
 */
#include "adm_layout.h"
#include "adm_link.h"
#include "adm_queue.h"

void adm_queue_append_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             uint32_t ticket_idx)
{
    adm_ticket_rec_t *ticket = adm_ticket_at(segment, ticket_idx);
    adm_ticket_rec_t *last = adm_ticket_at(segment, zone->tail_idx);

    ticket->prev_idx = zone->tail_idx;
    ticket->next_idx = 0;
    if (last) {
        last->next_idx = ticket_idx;
    }
    else {
        zone->head_idx = ticket_idx;
    }
    zone->tail_idx = ticket_idx;
}

void adm_queue_insert_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             uint32_t ticket_idx)
{
    adm_ticket_rec_t *ticket = adm_ticket_at(segment, ticket_idx);
    adm_ticket_rec_t *next = adm_ticket_at(segment, zone->head_idx);
    uint32_t left = segment->sizes.tickets; /* bounds a cyclic list */

    ticket->prev_idx = 0;
    ticket->next_idx = zone->head_idx;
    for (; next && next->arrival < ticket->arrival && left; left--) {
        ticket->prev_idx = ticket->next_idx;
        ticket->next_idx = next->next_idx;
        next = adm_ticket_at(segment, next->next_idx);
    }
    if (ticket->prev_idx) {
        adm_ticket_at(segment, ticket->prev_idx)->next_idx = ticket_idx;
    }
    else {
        zone->head_idx = ticket_idx;
    }
    if (next) {
        next->prev_idx = ticket_idx;
    }
    else {
        zone->tail_idx = ticket_idx;
    }
}

void adm_queue_unlink_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             uint32_t ticket_idx)
{
    adm_link_remove_locked(segment, &zone->head_idx, &zone->tail_idx,
                           ticket_idx);
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
