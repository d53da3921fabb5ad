/* adm_expect.c - estimate how long a new request would have to wait, and what
 * would happen to it if the limit of a dry run applied.
 * Called by adm_ticket_enter and adm_ticket, under the zone's lock.
 */
#include <sys/param.h>

#include "adm_expect.h"
#include "fair/fair_flow.h"
#include "adm_limit.h"
#include "fair/fair_ring.h"

/* @return how long requests hold permits: @a mean, or until a first request has
 * ended, how long the oldest has run. */
static uint64_t service_time(const adm_zone_rec_t *zone, uint64_t mean,
                             adm_usec_t now)
{
    if (zone->figures.service.count) {
        return mean;
    }
    return atomic_load(&zone->active) && now > zone->busy_since_usec
               ? (uint64_t)(now - zone->busy_since_usec)
               : 0;
}

/* @return the estimated time until a request behind @a queued others runs, in
 * microseconds, from recent service times. */
static adm_usec_t drain_time(const adm_zone_rec_t *zone, uint32_t queued,
                             adm_usec_t now)
{
    return (adm_usec_t)law_wait_usec(
        queued, service_time(zone, zone->figures.service_mean_usec, now),
        adm_limit_effective(zone));
}

/* Waiting tickets of one priority, and the permits that they take. */
typedef struct class_t {
    uint64_t tickets;
    uint64_t permits;
} class_t;

/* @return the sum for one priority. A ticket takes at most @a limit permits. */
static class_t class_of(const adm_flow_table_rec_t *table, unsigned priority,
                        uint32_t limit)
{
    class_t sum = { 0 };
    unsigned size;

    for (size = 0; size < ADM_COST_SIZES; size++) {
        const adm_waiting_rec_t *waiting = &table->waiting[priority][size];

        sum.tickets += waiting->tickets;
        sum.permits += MIN(waiting->cost, (uint64_t)waiting->tickets * limit);
    }
    return sum;
}

/* @return the permits that @a others take in @a turns turns, on average. */
static uint64_t permits_in_turns(class_t others, uint64_t turns)
{
    return turns < others.tickets ? others.permits * turns / others.tickets
                                  : others.permits;
}

/* A key with a maximum runs fewer requests concurrently than the zone has
 * permits. @return how many the zone could run until the waiting requests of
 * the key have run. */
static uint64_t permits_while_key_runs(const adm_flow_table_rec_t *table,
                                       const adm_entry_t *entry, uint32_t limit)
{
    return entry->key_max != 0 && entry->key_max < limit
               ? (uint64_t)fair_flow_of_key(table, entry->key)->waiting * limit
                     / entry->key_max
               : 0;
}

/* @return the number of permits that requests take until this one runs:
 * requests of its priority, with a key only those whose turn is earlier; then
 * requests of the other priorities, as many as have a turn in the meantime. Its
 * own first permit is not included: law_wait_usec() adds it. */
static uint64_t permits_ahead(const adm_flow_table_rec_t *table,
                              const adm_entry_t *entry, uint32_t limit)
{
    unsigned priority = entry->priority % ADM_PRIORITIES, other;
    class_t own = class_of(table, priority, limit);
    uint64_t ahead = own.permits + MIN(entry->cost ? entry->cost : 1, limit)
                     - 1;
    uint64_t turns = own.tickets;

    if (entry->key) {
        uint64_t before = fair_flow_turns_before(table, entry->key);
        uint64_t runs = permits_while_key_runs(table, entry, limit);

        turns = MIN(turns, before);
        ahead = MIN(ahead, before);
        ahead = MAX(ahead, runs);
    }
    for (other = 0; other < ADM_PRIORITIES; other++) {
        if (other != priority) {
            ahead += permits_in_turns(class_of(table, other, limit),
                                      fair_ring_turns_beside(priority, other,
                                                             turns + 1));
        }
    }
    return ahead;
}

/* At most UINT32_MAX - 1, because law_wait_usec() adds 1. */
static uint32_t to_32_bits(uint64_t number)
{
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX - 1;
}

/* At least 1: the limit is 0 while the zone is paused. */
static uint32_t permits_of(const adm_zone_rec_t *zone)
{
    uint32_t limit = adm_limit_effective(zone);

    return limit ? limit : 1;
}

/* @return the expected wait behind @a queued requests, from recent service
 * times. 0 if the queue is empty: one slow request must not close the zone. */
static adm_usec_t wait_locked(const adm_segment_t *segment,
                              const adm_zone_rec_t *zone,
                              const adm_entry_t *entry, uint32_t queued,
                              adm_usec_t now)
{
    const adm_flow_table_rec_t *table = fair_flow_table(segment, zone);
    uint32_t limit = permits_of(zone);
    uint32_t ahead = queued;

    if (queued == 0) {
        return 0;
    }
    if (table && !entry->dry_run) {
        ahead = to_32_bits(permits_ahead(table, entry, limit));
    }
    /* The slow mean, so that one expensive request does not cause
     * rejections. */
    return (adm_usec_t)law_wait_usec(
        ahead, service_time(zone, zone->figures.slow_mean_usec, now), limit);
}

adm_usec_t adm_expect_drain_locked(const adm_segment_t *segment,
                                   const adm_zone_rec_t *zone, uint32_t queued,
                                   adm_usec_t now)
{
    const adm_flow_table_rec_t *table = fair_flow_table(segment, zone);
    uint64_t permits = 0;
    unsigned priority;

    if (!table) {
        return drain_time(zone, queued, now);
    }
    for (priority = 0; priority < ADM_PRIORITIES; priority++) {
        permits += class_of(table, priority, permits_of(zone)).permits;
    }
    return drain_time(zone, to_32_bits(permits), now);
}

bool adm_expect_is_late_locked(const adm_segment_t *segment,
                               const adm_zone_rec_t *zone,
                               const adm_entry_t *entry, uint32_t queued,
                               adm_usec_t now, adm_usec_t *by)
{
    adm_usec_t expected;

    if (entry->target_usec == 0 || adm_limit_mode(zone) == ADM_MODE_PAUSE) {
        return false;
    }
    expected = wait_locked(segment, zone, entry, queued, now);
    if (expected <= entry->target_usec) {
        return false;
    }
    *by = expected - entry->target_usec;
    return true;
}

/* ---- dry runs --------------------------------------------------------------- */

/* In a dry run every request runs, so the zone's `active` does not show what
 * the limit would do. dry_work_usec models that: each request that the limit
 * would not have rejected adds its cost times the mean service time, and the
 * limit's permits work it off as time passes. Divided by the service time, it
 * is the number of permits that would be held or waited for. */

/* @return the number of requests that hold @a beyond of the @a active permits,
 * at the mean cost of all requests, rounded up. */
static uint32_t requests_beyond(const adm_segment_t *segment,
                                const adm_zone_rec_t *zone, uint32_t active,
                                uint32_t beyond)
{
    const adm_flow_table_rec_t *table = fair_flow_table(segment, zone);

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

/* Whether only requests run that the limit would not have rejected: the last
 * one to be rejected entered more than a mean service time ago. */
static bool runs_are_representative(const adm_zone_rec_t *zone,
                                    uint64_t service_usec, adm_usec_t now)
{
    return zone->figures.service.count == 0
           || (uint64_t)now - zone->figures.dry_rejected_at > service_usec;
}

/* Whether the request would run immediately, if it needs @a cost permits.
 * @a beyond is set to the number of permits that requests ahead of it wait
 * for. */
static bool is_free_locked(adm_zone_rec_t *zone, uint32_t limit, uint32_t cost,
                           uint64_t service_usec, adm_usec_t now,
                           uint32_t *beyond)
{
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
    return (is_free || zone->figures.service.count == 0) && active < limit
           && cost <= limit - active;
}

adm_outcome_t adm_dry_run_locked(const adm_segment_t *segment,
                                 adm_zone_rec_t *zone, const adm_entry_t *entry,
                                 adm_usec_t now, adm_ticket_t *ticket)
{
    const adm_ask_rec_t ask = fair_flow_ask_of(entry);
    uint64_t service_usec = service_time(zone, zone->figures.service_mean_usec,
                                         now);
    uint32_t limit = adm_limit_effective(zone);
    uint32_t cost = fair_flow_is_used(zone) ? fair_flow_need(&ask, limit) : 1;
    uint32_t beyond;
    bool is_free = is_free_locked(zone, limit, cost, service_usec, now,
                                  &beyond);

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
    zone->figures.dry_wait_usec += (uint64_t)drain_time(zone, beyond, now);
    adm_figures_note_queued(&zone->figures, ticket->queued_ahead + 1);
    return ADM_DRY_QUEUED;
}
