/* adm_pool.h - a zone's tickets: allocate, free, rebuild the caches.
 * Called by adm_zone, under the zone's lock.
 */
#ifndef ADM_POOL_H
#define ADM_POOL_H

#include "adm_layout.h"

/** Allocate a ticket of the zone. @return its number; 0: the table is full. */
uint32_t adm_pool_take_locked(adm_segment_t *segment, adm_zone_rec_t *zone);

/** Put an ended ticket, which is FREE already, on the free list. */
void adm_pool_put_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                         uint32_t ticket_idx);

/** Rebuild all caches of the zone from its tickets. */
void adm_pool_rebuild_locked(adm_segment_t *segment, adm_zone_rec_t *zone);

#endif
