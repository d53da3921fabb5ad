/* adm_limit.c - how many may run in a zone.
 * Called by adm_zone and adm_ticket.
 */
#include "adm_layout.h"
#include "adm_limit.h"
#include "law.h"

/* The limit in sequence with `queued`: see adm_zone_begin_ticket_locked(). */
bool adm_limit_has_free_permit(const adm_zone_rec_t *zone)
{
    return atomic_load_explicit(&zone->active, memory_order_relaxed)
           < atomic_load(&zone->limit);
}

/* What requests took lately. While none has ended: at least what the oldest has
 * taken so far. */
static uint64_t service_time(const adm_zone_rec_t *zone, adm_usec_t now)
{
    if (zone->service.count) {
        return zone->service_mean_usec;
    }
    return atomic_load(&zone->active) && now > zone->busy_since_usec
               ? (uint64_t)(now - zone->busy_since_usec)
               : 0;
}

/* How long a line of this length takes. */
adm_usec_t adm_limit_drain_time(const adm_zone_rec_t *zone, uint32_t queued,
                                adm_usec_t now)
{
    uint32_t limit = atomic_load(&zone->limit);

    return (adm_usec_t)law_wait_usec(queued, service_time(zone, now), limit);
}
