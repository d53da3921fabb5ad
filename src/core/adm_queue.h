/* adm_queue.h - who is next.
 * Called by adm_zone and adm_pool, under the zone's lock.
 */
#ifndef ADM_QUEUE_H
#define ADM_QUEUE_H

#include "adm_layout.h"

/* Bottom-up merge sort as tickets come in: run n holds 2^n of them or none. */
#define ADM_QUEUE_RUNS 32

/** Put a ticket last in the queue. */
void adm_queue_append_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             uint32_t ticket_idx);

/** Put a ticket back where it stood by its arrival: near the first. */
void adm_queue_insert_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             uint32_t ticket_idx);

/** Take a ticket out of the queue, wherever in it. */
void adm_queue_unlink_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             uint32_t ticket_idx);

/** Sort a waiting ticket in by arrival: the first of two steps of a rebuild.
 *  @a runs begins as zeros. Writes only the tickets' next_idx. */
void adm_queue_sort_in(adm_segment_t *segment, uint32_t runs[ADM_QUEUE_RUNS],
                       uint32_t ticket_idx);

/** Make the queue of what was sorted in: the second step. */
void adm_queue_link_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                           const uint32_t runs[ADM_QUEUE_RUNS]);

#endif
