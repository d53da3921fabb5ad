/* adm_dry_run.c - what would happen to a request if the limit applied.
 * Called by adm_ticket_enter, under the zone's lock.
 *
 * In a dry run every request runs, so the zone's `active` does not show what
 * the limit would do. dry_work_usec models that: each request that the limit
 * would not have rejected adds its cost times the mean service time, and the
 * limit's permits work it off as time passes. Divided by the service time, it
 * is the number of permits that would be held or waited for.
 */
#include "adm_dry_run.h"
#include "adm_expect.h"
#include "adm_figures.h"
#include "fair/fair_flow.h"
#include "adm_limit.h"

/* @return the number of requests that hold the permits beyond the limit. */
static uint32_t requests_beyond(const adm_segment_t *segment,
                                const adm_zone_rec_t *zone, uint32_t active,
                                uint32_t beyond)
{
    const adm_flow_table_rec_t *table = adm_flow_table(segment, zone);

    return table && active
               ? (uint32_t)(((uint64_t)beyond * table->holding + active - 1)
                            / active)
               : beyond;
}

/* @return the permits that requests would hold or wait for if the limit
 * applied, without the requests that it would have rejected. Subtracts what the
 * limit would have served since the last call. */
static uint64_t demand_locked(adm_zone_rec_t *zone, uint32_t limit,
                              uint64_t service_usec, adm_usec_t now)
{
    adm_figures_t *figures = &zone->figures;
    uint64_t at = (uint64_t)now;
    uint64_t passed = at > figures->dry_work_at ? at - figures->dry_work_at : 0;

    if (limit && passed > figures->dry_work_usec / limit) {
        figures->dry_work_usec = 0;
    }
    else {
        figures->dry_work_usec -= limit * passed;
    }
    figures->dry_work_at = at;
    return service_usec
               ? (figures->dry_work_usec + service_usec / 2) / service_usec
               : 0;
}

/* Whether the running requests are those that would run or wait. They are not
 * while some of them would have been rejected. */
static bool runs_are_representative(const adm_zone_rec_t *zone,
                                    uint64_t service_usec, adm_usec_t now)
{
    return zone->figures.service.count == 0
           || (uint64_t)now - zone->figures.dry_rejected_at > service_usec;
}

/* Whether the request would run immediately. @a beyond is set to the number of
 * permits that requests ahead of it wait for. */
static bool is_free_locked(adm_zone_rec_t *zone, const adm_entry_t *entry,
                           uint32_t cost, uint64_t service_usec, adm_usec_t now,
                           uint32_t *beyond)
{
    uint32_t limit = adm_limit_effective(zone);
    uint32_t active = atomic_load(&zone->active);
    uint64_t demand = demand_locked(zone, limit, service_usec, now);
    bool is_free = demand + cost <= limit;

    *beyond = demand > limit ? (uint32_t)(demand - limit) : 0;
    if (!runs_are_representative(zone, service_usec, now)) {
        return is_free;
    }
    if (active > limit && active - limit > *beyond) {
        *beyond = active - limit;
    }
    return (is_free || zone->figures.service.count == 0)
           && (adm_flow_is_used(zone) ? adm_flow_has_permits_for(zone, entry)
                                      : active < limit);
}

adm_outcome_t adm_dry_run_locked(const adm_segment_t *segment,
                                 adm_zone_rec_t *zone, const adm_entry_t *entry,
                                 adm_usec_t now, adm_ticket_t *ticket)
{
    uint64_t service_usec = adm_limit_service_time(zone, now);
    uint32_t limit = adm_limit_effective(zone);
    uint32_t cost = entry->cost ? entry->cost : 1;
    uint32_t beyond;
    bool is_free;

    cost = limit && cost > limit ? limit : cost;
    is_free = is_free_locked(zone, entry, cost, service_usec, now, &beyond);
    ticket->queued_ahead = requests_beyond(segment, zone,
                                           atomic_load(&zone->active), beyond);
    if (!is_free
        && (adm_limit_is_draining(zone)
            || ticket->queued_ahead
                   >= adm_limit_queue_length(zone, entry->queue_length))) {
        zone->figures.dry_rejected_at = (uint64_t)now;
        return ADM_DRY_FULL;
    }
    if (!is_free
        && adm_expect_is_late_locked(segment, zone, entry, beyond, now,
                                     &ticket->drain_usec)) {
        zone->figures.dry_rejected_at = (uint64_t)now;
        return ADM_DRY_LATE;
    }
    zone->figures.dry_work_usec += cost * service_usec;
    if (is_free) {
        return ADM_ADMITTED;
    }
    zone->figures.dry_wait_usec += (uint64_t)adm_limit_drain_time(zone, beyond,
                                                                  now);
    adm_figures_note_queued(&zone->figures, ticket->queued_ahead + 1);
    return ADM_DRY_QUEUED;
}
