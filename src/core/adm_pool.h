/* adm_pool.h - which tickets a zone has.
 * Called by adm_zone, under the zone's lock.
 */
#ifndef ADM_POOL_H
#define ADM_POOL_H

#include "adm_layout.h"

/** Take an unused ticket of the zone. @return its number; 0: table full. */
uint32_t adm_pool_take_locked(adm_segment_t *segment, adm_zone_rec_t *zone);

/** Give an ended ticket back to the unused ones; its state is FREE already. */
void adm_pool_put_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                         uint32_t ticket_idx);

/** Derive every cache of the zone from its tickets. */
void adm_pool_rebuild_locked(adm_segment_t *segment, adm_zone_rec_t *zone);

#endif
