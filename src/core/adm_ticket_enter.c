/* adm_ticket_enter.c - one request asks for a permit.
 * Called by the module.
 */
#include "adm_auto.h"
#include "adm_child.h"
#include "adm_expect.h"
#include "adm_fault.h"
#include "adm_figures.h"
#include "adm_flow.h"
#include "adm_layout.h"
#include "adm_limit.h"
#include "adm_worker.h"
#include "adm_zone.h"

/* Nobody knows when an administrator opens a zone again. */
#define DRAIN_USEC (30 * ADM_USEC_PER_SEC)

static bool has_ticket(adm_outcome_t outcome)
{
    return outcome == ADM_WAITING || adm_outcome_action(outcome) == ADM_RUN;
}

/* It has been decided, for now: a waiting ticket is counted at its end. */
static adm_outcome_t decided_locked(adm_zone_rec_t *zone, adm_ticket_t *ticket,
                                    adm_outcome_t outcome, adm_usec_t now)
{
    zone->figures.outcomes[outcome]++;
    if (adm_outcome_action(outcome) == ADM_REFUSE && ticket->drain_usec == 0) {
        ticket->drain_usec = adm_expect_drain_locked(ticket->child->segment,
                                                     zone, ticket->queued_ahead,
                                                     now);
    }
    return outcome;
}

static adm_outcome_t not_counted(adm_ticket_t *ticket, apr_status_t fault)
{
    ticket->fault = fault;
    return ADM_UNLIMITED;
}

/* Whether it would have to wait for longer than it may; then by how much. Nobody
 * knows that while the zone is paused. */
static bool is_late_locked(const adm_segment_t *segment, adm_zone_rec_t *zone,
                           const adm_entry_t *entry, uint32_t queued,
                           adm_usec_t now, adm_ticket_t *ticket)
{
    adm_usec_t expected;

    if (entry->target_usec == 0 || adm_limit_mode(zone) == ADM_MODE_PAUSE) {
        return false;
    }
    expected = adm_expect_wait_locked(segment, zone, entry, queued, now);
    if (expected <= entry->target_usec) {
        return false;
    }
    ticket->drain_usec = expected - entry->target_usec;
    return true;
}

/* How many requests hold the permits beyond the limit. */
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

/* The permits that those would hold or wait for who came to a dry run and would not
 * have been rejected, had nobody run beyond the limit. What the limit served since the
 * last one came is done. */
static uint64_t dry_demand_locked(adm_zone_rec_t *zone, uint32_t limit,
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

/* Whether the requests that run are those that would run or wait: not while some of
 * them would have been rejected. */
static bool dry_runs_tell(const adm_zone_rec_t *zone, uint64_t service_usec,
                          adm_usec_t now)
{
    return zone->figures.service.count == 0
           || (uint64_t)now - zone->figures.dry_rejected_at > service_usec;
}

/* Whether it would run at once, else wait; and behind how many permits. */
static bool dry_is_free_locked(adm_zone_rec_t *zone, const adm_entry_t *entry,
                               uint32_t cost, uint64_t service_usec,
                               adm_usec_t now, uint32_t *beyond)
{
    uint32_t limit = adm_limit_effective(zone);
    uint32_t active = atomic_load(&zone->active);
    uint64_t demand = dry_demand_locked(zone, limit, service_usec, now);
    bool is_free = demand + cost <= limit;

    *beyond = demand > limit ? (uint32_t)(demand - limit) : 0;
    if (!dry_runs_tell(zone, service_usec, now)) {
        return is_free;
    }
    if (active > limit && active - limit > *beyond) {
        *beyond = active - limit;
    }
    return (is_free || zone->figures.service.count == 0)
           && (adm_flow_is_used(zone) ? adm_flow_has_permits_for(zone, entry)
                                      : active < limit);
}

/* A dry run admits everybody, and counts what would have become of them. */
static adm_outcome_t dry_outcome_locked(const adm_segment_t *segment,
                                        adm_zone_rec_t *zone,
                                        const adm_entry_t *entry,
                                        adm_usec_t now, adm_ticket_t *ticket)
{
    uint64_t service_usec = adm_limit_service_time(zone, now);
    uint32_t limit = adm_limit_effective(zone);
    uint32_t cost = entry->cost ? entry->cost : 1;
    uint32_t beyond;
    bool is_free;

    cost = limit && cost > limit ? limit : cost;
    is_free = dry_is_free_locked(zone, entry, cost, service_usec, now, &beyond);
    ticket->queued_ahead = requests_beyond(segment, zone,
                                           atomic_load(&zone->active), beyond);
    if (!is_free
        && (adm_limit_is_draining(zone)
            || ticket->queued_ahead
                   >= adm_limit_queue_length(zone, entry->queue_length))) {
        zone->figures.dry_rejected_at = (uint64_t)now;
        return ADM_DRY_FULL;
    }
    if (!is_free && is_late_locked(segment, zone, entry, beyond, now, ticket)) {
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

static adm_outcome_t outcome_without_worker(const adm_entry_t *entry)
{
    return entry->worker == ADM_WORKER_NO_ROOM ? ADM_PARKING : ADM_RESERVE;
}

/* Whether there is a permit for it, else a place in the queue. */
static adm_outcome_t place_locked(adm_segment_t *segment,
                                  const adm_zone_rec_t *zone,
                                  const adm_entry_t *entry, uint32_t queued)
{
    if (adm_flow_is_used(zone)) {
        return adm_flow_place_locked(segment, zone, entry);
    }
    if (queued == 0 && adm_limit_has_free_permit(zone)) {
        return ADM_ADMITTED;
    }
    return queued < adm_limit_queue_length(zone, entry->queue_length)
               ? ADM_WAITING
               : ADM_FULL;
}

static adm_outcome_t outcome_locked(adm_segment_t *segment,
                                    adm_zone_rec_t *zone,
                                    const adm_entry_t *entry, adm_usec_t now,
                                    adm_ticket_t *ticket)
{
    uint32_t queued = atomic_load_explicit(&zone->queued, memory_order_relaxed);
    bool has_worker = ticket->has_worker || entry->worker == ADM_WORKER_NONE;
    adm_outcome_t place;

    ticket->queued_ahead = queued;
    if (adm_limit_is_draining(zone)) {
        ticket->drain_usec = DRAIN_USEC;
        return ADM_DRAIN;
    }
    place = place_locked(segment, zone, entry, queued);
    if (place != ADM_ADMITTED && adm_limit_is_cut_off(zone)) {
        return ADM_FLEET;
    }
    if (place == ADM_ADMITTED) {
        return has_worker ? ADM_ADMITTED : outcome_without_worker(entry);
    }
    if (place != ADM_WAITING) {
        return place;
    }
    if (entry->wait == ADM_WAIT_NEVER) {
        return ADM_FULL;
    }
    if (is_late_locked(segment, zone, entry, queued, now, ticket)) {
        return ADM_LATE;
    }
    if (entry->wait != ADM_WAIT_BLOCKED) {
        return ADM_WAITING;
    }
    return has_worker ? adm_worker_begin_blocking(ticket)
                      : outcome_without_worker(entry);
}

static adm_outcome_t enter_locked(adm_child_t *child, adm_zone_rec_t *zone,
                                  const adm_entry_t *entry, adm_usec_t now,
                                  adm_ticket_t *ticket)
{
    adm_outcome_t outcome = entry->dry_run
                                ? dry_outcome_locked(child->segment, zone,
                                                     entry, now, ticket)
                                : outcome_locked(child->segment, zone, entry,
                                                 now, ticket);
    enum adm_ticket_state_t state = outcome == ADM_WAITING ? ADM_TICKET_WAITING
                                                           : ADM_TICKET_ACTIVE;
    apr_status_t rv;

    atomic_store_explicit(&zone->queue_length, entry->queue_length,
                          memory_order_relaxed);
    if (entry->target_usec) {
        adm_expect_begin_locked(zone);
    }
    if (!has_ticket(outcome)) {
        return decided_locked(zone, ticket, outcome, now);
    }
    rv = adm_zone_begin_ticket_locked(child, zone, state, entry, now, ticket);
    if (rv != APR_SUCCESS) {
        adm_worker_end_blocking(ticket);
        return not_counted(ticket, rv);
    }
    if (outcome == ADM_WAITING) {
        adm_child_note_alive(child);
        adm_figures_note_queued(&zone->figures, ticket->queued_ahead + 1);
        return outcome;
    }
    return decided_locked(zone, ticket, outcome, now);
}

/* What the child counts of its own tickets, once it is known how it went. */
static void note_entered(adm_ticket_t *ticket, const adm_entry_t *entry,
                         adm_outcome_t outcome)
{
    bool is_parking = outcome == ADM_WAITING && entry->wait == ADM_WAIT_PARKED;

    if (!has_ticket(outcome) || is_parking) {
        adm_worker_give_back(ticket);
    }
    else {
        adm_worker_settle(ticket);
    }
    if (has_ticket(outcome)) {
        atomic_store(&ticket->held, 1);
    }
}

bool adm_zone_seems_full(const adm_child_t *child, adm_zone_t zone,
                         uint32_t queue_length)
{
    adm_zone_rec_t *rec = adm_zone_at(child->segment, zone.idx);
    uint32_t queued = rec ? atomic_load(&rec->queued) : 0;

    return rec && queued >= queue_length
           && (queued > 0 || !adm_limit_has_free_permit(rec));
}

adm_outcome_t adm_ticket_enter(adm_child_t *child, adm_zone_t zone,
                               const adm_entry_t *entry, adm_usec_t now,
                               adm_ticket_t *ticket)
{
    adm_segment_t *segment = child->segment;
    adm_zone_rec_t *rec = adm_zone_at(segment, zone.idx);
    adm_outcome_t outcome;
    apr_status_t rv;

    if (rec && !adm_limit_has_free_permit(rec)) {
        adm_round_help(child, now); /* the dead may hold what is missing */
    }
    ticket->child = child;
    ticket->zone_idx = zone.idx;
    ticket->uses_worker = entry->worker == ADM_WORKER_ONE;
    ticket->has_worker = ticket->uses_worker
                         && adm_worker_take(child, entry->dry_run);
    ticket->is_settled = false;
    ticket->finds_no_room = false;
    if (entry->wait == ADM_WAIT_BLOCKED) {
        adm_worker_look_for_room(ticket);
    }
    rec = adm_zone_lock(segment, zone.idx, &rv);
    if (rec) {
        ADM_FAULT(enter_locked);
        outcome = rec->applied_incarnation == zone.incarnation
                      ? enter_locked(child, rec, entry, now, ticket)
                      : not_counted(ticket, ADM_ZONE_RETIRED);
        adm_zone_unlock(segment, rec, now);
        ADM_FAULT(enter_unlocked);
        adm_auto_wake(segment, rec);
    }
    else {
        outcome = not_counted(ticket, rv);
    }
    note_entered(ticket, entry, outcome);
    return outcome;
}
