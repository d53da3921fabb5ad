/* adm_limit.c - how many may run in a zone.
 * Called by adm_zone and adm_ticket, and by the parent to configure.
 */
#include "adm_layout.h"
#include "adm_limit.h"
#include "law.h"

void adm_limit_set(adm_zone_rec_t *zone, enum adm_limit_source_t source,
                   uint32_t limit)
{
    if (source != ADM_LIMIT_CONFIGURED) {
        atomic_store(&zone->has_other_limits, 1);
    }
    atomic_store(&zone->limits[source], limit + 1); /* none becomes 0 */
}

void adm_limit_forget(adm_zone_rec_t *zone)
{
    unsigned source;

    for (source = 0; source < ADM_LIMIT_SOURCES; source++) {
        atomic_store(&zone->limits[source], 0);
    }
    atomic_store(&zone->has_other_limits, 0);
}

uint32_t adm_limit_least(const adm_zone_rec_t *zone)
{
    uint32_t least = UINT32_MAX;
    unsigned source;

    for (source = 0; source < ADM_LIMIT_SOURCES; source++) {
        /* A source that says nothing becomes the largest number. */
        uint32_t limit = atomic_load(&zone->limits[source]) - 1;

        least = limit < least ? limit : least;
    }
    return least;
}

/* What requests took lately. While none has ended: at least what the oldest has
 * taken so far. */
static uint64_t service_time(const adm_zone_rec_t *zone, adm_usec_t now)
{
    if (zone->figures.service.count) {
        return zone->figures.service_mean_usec;
    }
    return atomic_load(&zone->active) && now > zone->busy_since_usec
               ? (uint64_t)(now - zone->busy_since_usec)
               : 0;
}

/* How long a queue of this length takes. */
adm_usec_t adm_limit_drain_time(const adm_zone_rec_t *zone, uint32_t queued,
                                adm_usec_t now)
{
    return (adm_usec_t)law_wait_usec(queued, service_time(zone, now),
                                     adm_limit_effective(zone));
}
