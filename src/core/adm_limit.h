/* adm_limit.h - how many may run in a zone.
 * Called by adm_zone and adm_ticket, and by the parent to configure.
 *
 * Atomic words: no lock is needed, and none of this blocks.
 */
#ifndef ADM_LIMIT_H
#define ADM_LIMIT_H

#include "adm_layout.h"

/** What a source sets that says nothing. */
#define ADM_LIMIT_NONE UINT32_MAX

/**
 * Set what one source says. Only the process that may speak for that source. A
 * raised limit is handed out by the next unlock of the zone.
 */
void adm_limit_set(adm_zone_rec_t *zone, enum adm_limit_source_t source,
                   uint32_t limit);

/** No source says anything: the place gets another zone. The parent. */
void adm_limit_forget(adm_zone_rec_t *zone);

/** @return the least of what the sources say. */
uint32_t adm_limit_least(const adm_zone_rec_t *zone);

/* Loads in sequence with `queued`: see adm_zone_begin_ticket_locked(). */

/** @return how many requests of the zone may run: the same, and one load less
 *  for each source that never spoke. So 0 while the zone is paused. */
static inline uint32_t adm_limit_effective(const adm_zone_rec_t *zone)
{
    if (atomic_load(&zone->has_other_limits)) {
        return adm_limit_least(zone);
    }
    return atomic_load(&zone->limits[ADM_LIMIT_CONFIGURED]) - 1;
}

/** @return whether fewer run in the zone than may. Exact under the zone's lock,
 *  without it a guess. */
static inline bool adm_limit_has_free_permit(const adm_zone_rec_t *zone)
{
    return atomic_load_explicit(&zone->active, memory_order_relaxed)
           < adm_limit_effective(zone);
}

/** @return an estimate: how long until a request behind @a queued others would
 *  run, by what requests took lately. Under the zone's lock. */
adm_usec_t adm_limit_drain_time(const adm_zone_rec_t *zone, uint32_t queued,
                                adm_usec_t now);

#endif
