/* adm_ticket_enter.c - a request enters a zone.
 * Called by the module.
 */
#include "adm_child.h"
#include "adm_expect.h"
#include "adm_fault.h"
#include "adm_figures.h"
#include "fair/fair_flow.h"
#include "adm_layout.h"
#include "adm_limit.h"
#include "adm_worker.h"
#include "adm_zone.h"

/* Retry time while an administrator drains a zone, whose end is unknown. */
#define DRAIN_USEC (30 * ADM_USEC_PER_SEC)

/* Whether a request with this outcome waits, or runs with a permit. */
static bool has_ticket(adm_outcome_t outcome)
{
    return outcome == ADM_WAITING || adm_outcome_action(outcome) == ADM_RUN;
}

/* Count the outcome, and estimate when to retry a rejected request. A waiting
 * ticket is counted at the end of its wait. */
static adm_outcome_t counted_locked(adm_zone_rec_t *zone, adm_ticket_t *ticket,
                                    adm_outcome_t outcome, adm_usec_t now)
{
    zone->figures.outcomes[outcome]++;
    if (adm_outcome_action(outcome) == ADM_REJECT && ticket->drain_usec == 0) {
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

/* @return whether the request has the worker that it runs or blocks with, or
 * needs none. Takes the worker only now: a request that parks must not use up,
 * for a moment, the worker of another one that finds a permit. */
static bool takes_worker(const adm_entry_t *entry, adm_ticket_t *ticket)
{
    return entry->worker == ADM_WORKER_NONE
           || (entry->worker == ADM_WORKER_ONE
               && adm_worker_take_for(ticket, false));
}

static adm_outcome_t outcome_without_worker(const adm_entry_t *entry)
{
    return entry->worker == ADM_WORKER_NO_ROOM ? ADM_PARKING : ADM_RESERVE;
}

/* @return ADM_ADMITTED if a permit is free, ADM_WAITING if a queue slot is
 * free; otherwise the reason to reject. Without flows a permit is free only if
 * no request waits, so that a new request does not overtake. */
static adm_outcome_t find_free_locked(adm_segment_t *segment,
                                      const adm_zone_rec_t *zone,
                                      const adm_entry_t *entry, uint32_t queued)
{
    if (fair_flow_is_used(zone)) {
        return fair_flow_decide_locked(segment, zone, entry);
    }
    if (queued == 0 && adm_limit_has_free_permit(zone)) {
        return ADM_ADMITTED;
    }
    return queued < adm_limit_queue_length(zone, entry->queue_length)
               ? ADM_WAITING
               : ADM_FULL;
}

/* @return run, wait, or the reason to reject. Not for dry runs. */
static adm_outcome_t outcome_locked(adm_segment_t *segment,
                                    adm_zone_rec_t *zone,
                                    const adm_entry_t *entry, adm_usec_t now,
                                    adm_ticket_t *ticket)
{
    uint32_t queued = atomic_load_explicit(&zone->queued, memory_order_relaxed);
    adm_outcome_t found;

    ticket->queued_ahead = queued;
    if (adm_limit_is_draining(zone)) {
        ticket->drain_usec = DRAIN_USEC;
        return ADM_DRAIN;
    }
    found = find_free_locked(segment, zone, entry, queued);
    if (found != ADM_ADMITTED && adm_limit_is_cut_off(zone)) {
        return ADM_FLEET;
    }
    if (found == ADM_ADMITTED) {
        return takes_worker(entry, ticket) ? ADM_ADMITTED
                                           : outcome_without_worker(entry);
    }
    if (found != ADM_WAITING) {
        return found;
    }
    if (entry->wait == ADM_WAIT_NEVER) {
        return ADM_FULL;
    }
    if (adm_expect_is_late_locked(segment, zone, entry, queued, now,
                                  &ticket->drain_usec)) {
        return ADM_LATE;
    }
    if (entry->wait != ADM_WAIT_BLOCKED) {
        return ADM_WAITING;
    }
    return takes_worker(entry, ticket) ? adm_worker_begin_blocking(ticket)
                                       : outcome_without_worker(entry);
}

/* Decide about a request, and make its ticket if it gets one. */
static adm_outcome_t enter_locked(adm_child_t *child, adm_zone_rec_t *zone,
                                  const adm_entry_t *entry, adm_usec_t now,
                                  adm_ticket_t *ticket)
{
    adm_outcome_t outcome = entry->dry_run
                                ? adm_dry_run_locked(child->segment, zone,
                                                     entry, now, ticket)
                                : outcome_locked(child->segment, zone, entry,
                                                 now, ticket);
    enum adm_ticket_state_t state = outcome == ADM_WAITING ? ADM_TICKET_WAITING
                                                           : ADM_TICKET_ACTIVE;
    apr_status_t rv;

    atomic_store_explicit(&zone->queue_length, entry->queue_length,
                          memory_order_relaxed);
    if (!has_ticket(outcome)) {
        return counted_locked(zone, ticket, outcome, now);
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
    return counted_locked(zone, ticket, outcome, now);
}

/* Return the worker of a request that got no ticket. Take one for a dry run,
 * which runs in any case. */
static void note_entered(adm_ticket_t *ticket, const adm_entry_t *entry,
                         adm_outcome_t outcome)
{
    if (!has_ticket(outcome)) {
        adm_worker_give_back(ticket);
        return;
    }
    if (entry->dry_run) {
        adm_worker_take_for(ticket, true);
    }
    atomic_store(&ticket->held, 1);
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
        adm_round_help(child, now); /* dead children might hold permits */
    }
    ticket->child = child;
    ticket->zone_idx = zone.idx;
    ticket->uses_worker = entry->worker == ADM_WORKER_ONE;
    if (entry->wait == ADM_WAIT_BLOCKED) {
        adm_worker_check_room(ticket);
    }
    rec = adm_zone_lock(segment, zone.idx, &rv);
    if (rec) {
        ADM_FAULT(enter_locked);
        outcome = rec->applied_incarnation == zone.incarnation
                      ? enter_locked(child, rec, entry, now, ticket)
                      : not_counted(ticket, ADM_ZONE_RETIRED);
        adm_zone_unlock(segment, rec, now);
        ADM_FAULT(enter_unlocked);
    }
    else {
        outcome = not_counted(ticket, rv);
    }
    note_entered(ticket, entry, outcome);
    return outcome;
}
