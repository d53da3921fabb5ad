/* adm_stuck.h - a zone whose lock cannot be had.
 * Called by adm_zone and adm_ticket.
 */
#ifndef ADM_STUCK_H
#define ADM_STUCK_H

#include "adm_layout.h"

/** For how long the zone's lock has been out of reach, as far as anybody tried. */
adm_usec_t adm_stuck_busy_for(const adm_zone_rec_t *zone, adm_usec_t now);

/** Take the lock of a zone that somebody else holds, within @a patience; much
 *  less when others have waited for long. */
adm_lock_result_t adm_stuck_acquire(adm_zone_rec_t *zone, adm_usec_t patience);

#endif
