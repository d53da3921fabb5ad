/* adm_queue.h - a zone's queue: its WAITING tickets, by arrival.
 * Called by adm_zone and adm_pool, under the zone's lock.
 */
#ifndef ADM_QUEUE_H
#define ADM_QUEUE_H

#include "adm_layout.h"

/* Runs of a bottom-up merge sort: run n is a list of 2^n tickets, or empty. */
#define ADM_QUEUE_RUNS 32

/** Append a ticket to the queue. */
void adm_queue_append_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             uint32_t ticket_idx);

/** Put a ticket back at its position by arrival. Searches from the head,
 *  because such a ticket was among the first. */
void adm_queue_insert_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             uint32_t ticket_idx);

/** Remove a ticket from anywhere in the queue. */
void adm_queue_unlink_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             uint32_t ticket_idx);

/** Rebuild a queue, step 1: add a WAITING ticket to @a runs, which start as
 *  zeros. Writes only the tickets' next_idx. */
void adm_queue_sort_in(adm_segment_t *segment, uint32_t runs[ADM_QUEUE_RUNS],
                       uint32_t ticket_idx);

/** Rebuild a queue, step 2: merge @a runs into the zone's queue. */
void adm_queue_link_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                           const uint32_t runs[ADM_QUEUE_RUNS]);

#endif
