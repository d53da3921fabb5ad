/* adm_expect.c - how long a request that comes would have to wait.
 * Called by adm_ticket_enter, under the zone's lock.
 */
#include "adm_expect.h"
#include "adm_flow.h"
#include "adm_limit.h"
#include "law.h"

void adm_expect_begin_locked(adm_zone_rec_t *zone)
{
    zone->figures.has_target = 1;
}

/* By the slow mean: one dear request must not turn others away. */
static uint64_t service_time(const adm_zone_rec_t *zone, adm_usec_t now)
{
    return zone->figures.slow_count ? zone->figures.slow_mean_usec
                                    : adm_limit_service_time(zone, now);
}

/* How many permits come before it. */
static uint32_t permits_ahead(const adm_segment_t *segment,
                              const adm_zone_rec_t *zone,
                              const adm_entry_t *entry, uint32_t queued)
{
    const adm_flow_table_rec_t *table = adm_flow_table(segment, zone);
    uint32_t cost = entry->cost ? entry->cost : 1;
    uint64_t of_all, by_turns;

    if (!table || entry->dry_run) {
        return queued;
    }
    of_all = (uint64_t)table->waiting_cost + cost - 1;
    by_turns = entry->key ? adm_flow_turns_before(table, entry->key) : of_all;
    of_all = by_turns < of_all ? by_turns : of_all;
    return of_all < UINT32_MAX ? (uint32_t)of_all : UINT32_MAX;
}

adm_usec_t adm_expect_wait_locked(const adm_segment_t *segment,
                                  const adm_zone_rec_t *zone,
                                  const adm_entry_t *entry, uint32_t queued,
                                  adm_usec_t now)
{
    return queued == 0 ? 0
                       : (adm_usec_t)law_wait_usec(permits_ahead(segment, zone,
                                                                 entry, queued),
                                                   service_time(zone, now),
                                                   adm_limit_effective(zone));
}
