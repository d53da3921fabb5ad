/* adm_limit.c - how many may run in a zone.
 * Called by adm_zone and adm_ticket, and by the parent to configure.
 */
#include "adm_layout.h"
#include "adm_limit.h"
#include "law.h"

void adm_limit_set(adm_zone_rec_t *zone, enum adm_limit_source_t source,
                   uint32_t limit)
{
    if (source != ADM_LIMIT_CONFIGURED && limit != ADM_LIMIT_NONE) {
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
    atomic_store(&zone->live_queue_length, 0);
    atomic_store(&zone->mode, ADM_MODE_OPEN);
    atomic_store(&zone->has_other_limits, 0);
    atomic_store(&zone->limit_changed_second, 0);
    atomic_store(&zone->limit_before, 0);
}

uint32_t adm_limit_said(const adm_zone_rec_t *zone,
                        enum adm_limit_source_t source)
{
    return atomic_load(&zone->limits[source]) - 1;
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

void adm_limit_forget_live(adm_zone_rec_t *zone)
{
    adm_limit_set(zone, ADM_LIMIT_LIVE, ADM_LIMIT_NONE);
    atomic_store(&zone->live_queue_length, 0);
    atomic_store(&zone->mode, ADM_MODE_OPEN);
}

adm_mode_t adm_limit_mode(const adm_zone_rec_t *zone)
{
    unsigned mode = atomic_load(&zone->mode);

    return mode < ADM_MODES ? (adm_mode_t)mode : ADM_MODE_OPEN;
}

uint32_t adm_limit_ordered(const adm_zone_rec_t *zone)
{
    uint32_t live = adm_limit_said(zone, ADM_LIMIT_LIVE);

    return live != ADM_LIMIT_NONE ? live
                                  : adm_limit_said(zone, ADM_LIMIT_CONFIGURED);
}

bool adm_limit_is_live(const adm_zone_rec_t *zone)
{
    return adm_limit_said(zone, ADM_LIMIT_LIVE) != ADM_LIMIT_NONE
           || atomic_load(&zone->live_queue_length) != 0
           || adm_limit_mode(zone) != ADM_MODE_OPEN;
}

uint32_t adm_limit_least(const adm_zone_rec_t *zone)
{
    uint32_t own = adm_limit_said(zone, ADM_LIMIT_LIVE);

    if (atomic_load(&zone->mode) == ADM_MODE_PAUSE) {
        return 0;
    }
    if (own == ADM_LIMIT_NONE) {
        own = lesser(adm_limit_said(zone, ADM_LIMIT_CONFIGURED),
                     adm_limit_said(zone, ADM_LIMIT_AUTO));
    }
    return lesser(own, adm_limit_said(zone, ADM_LIMIT_SHARE));
}

/* What requests took lately. While none has ended: at least what the oldest has
 * taken so far. */
uint64_t adm_limit_service_time(const adm_zone_rec_t *zone, adm_usec_t now)
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
    return (adm_usec_t)law_wait_usec(queued, adm_limit_service_time(zone, now),
                                     adm_limit_effective(zone));
}
