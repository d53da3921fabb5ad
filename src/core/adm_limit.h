/* adm_limit.h - how many may run in a zone.
 * Called by adm_zone and adm_ticket.
 */
#ifndef ADM_LIMIT_H
#define ADM_LIMIT_H

#include "adm_layout.h"

/** @return whether fewer run in the zone than may. Exact under the zone's lock,
 *  without it a guess. */
bool adm_limit_has_free_permit(const adm_zone_rec_t *zone);

/** @return an estimate: how long until a request behind @a queued others would
 *  run, by what requests took lately. Under the zone's lock. */
adm_usec_t adm_limit_drain_time(const adm_zone_rec_t *zone, uint32_t queued,
                                adm_usec_t now);

#endif
