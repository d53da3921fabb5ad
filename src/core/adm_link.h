/* adm_link.h - doubly linked lists of tickets, or of their asks.
 * Called by adm_zone, adm_hand_over, adm_pool and fair_flow, under the zone's
 * lock.
 */
#ifndef ADM_LINK_H
#define ADM_LINK_H

#include "adm_layout.h"

typedef struct adm_list_t {
    const adm_segment_t *segment;
    void *links; /* of record 1: prev_idx, followed by next_idx */
    uint32_t *head_idx;
    uint32_t *tail_idx; /* NULL: the list has the newest record first */
} adm_list_t;

/** @return a zone's queue: its WAITING tickets, by arrival. */
static inline adm_list_t adm_queue_of(const adm_segment_t *segment,
                                      adm_zone_rec_t *zone)
{
    return (adm_list_t){ .segment = segment,
                         .links = &segment->ticket_recs->prev_idx,
                         .head_idx = &zone->head_idx,
                         .tail_idx = &zone->tail_idx };
}

/** @return a zone's list of grants: each GRANTED ticket, and each ACTIVE ticket
 *  whose start has not been settled (adm_hand_over.c), newest first. */
static inline adm_list_t adm_grants_of(const adm_segment_t *segment,
                                       adm_zone_rec_t *zone)
{
    return (adm_list_t){ .segment = segment,
                         .links = &segment->ticket_recs->prev_idx,
                         .head_idx = &zone->granted_idx };
}

/** Insert a record that is on no list: by arrival, if the list records its end;
 *  otherwise as the first. */
void adm_link_insert_locked(adm_list_t list, uint32_t idx);

/** Remove a record from anywhere in the list. @return false if it is on no
 *  list, or the first of another list; then nothing has changed. */
bool adm_link_remove_locked(adm_list_t list, uint32_t idx);

#endif
