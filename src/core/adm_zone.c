/* adm_zone.c - lock a zone, and change the state of its tickets.
 * Called by adm_ticket, adm_round and adm_view.
 *
 * Locking repairs a zone whose last owner was killed; unlocking hands permits
 * over. Comments like T3_grant are the names of steps in t/model/tickets.pml.
 * Each T is one store of a ticket's state, followed by the caches derived from
 * it.
 */
#include "adm_account.h"
#include "adm_agent.h"
#include "adm_fault.h"
#include "adm_figures.h"
#include "fair/fair_flow.h"
#include "adm_hand_over.h"
#include "adm_history.h"
#include "adm_layout.h"
#include "adm_limit.h"
#include "adm_link.h"
#include "adm_pool.h"
#include "adm_zone.h"

/* ---- a lock whose owner was stopped ---------------------------------------- */

/* No process waits indefinitely for the lock of a stopped process. Meanwhile
 * new requests run without a permit, and requests that leave let the next owner
 * of the lock end their tickets. */
adm_usec_t adm_zone_stuck_for(const adm_zone_rec_t *zone, adm_usec_t now)
{
    adm_usec_t since = atomic_load(&zone->stuck_since);

    return since > 0 && since < now ? now - since : 0;
}

/* Wait for a zone's lock that another thread holds, for at most @a patience
 * microseconds. Stop waiting if no process gets the lock for
 * ADM_LOCK_STUCK_USEC: then its owner is probably stopped. `stuck_since` is the
 * start of the first wait since a process got it, which clears `stuck_since`.
 * Out of line, so that the path of a free lock stays short. */
static __attribute__((noinline, cold)) adm_lock_result_t
wait_for_lock(adm_zone_rec_t *zone, adm_usec_t patience)
{
    adm_usec_t now = adm_now(), until = now + patience;
    adm_lock_result_t result = ADM_LOCK_BUSY;

    /* Not in a signal handler that interrupted a critical section of this
     * thread: there, adm_lock_acquire() does not wait. */
    if (adm_lock_is_held_here()) {
        return result;
    }
    do {
        adm_usec_t not_stuck = 0, left;

        atomic_compare_exchange_strong(&zone->stuck_since, &not_stuck, now);
        left = ADM_LOCK_STUCK_USEC - adm_zone_stuck_for(zone, now);
        if (left < ADM_LOCK_BRIEF_USEC) {
            left = ADM_LOCK_BRIEF_USEC;
        }
        result = adm_lock_acquire(&zone->lock,
                                  now + left < until ? now + left : until);
        now = adm_now();
    } while (result == ADM_LOCK_BUSY && now < until
             && adm_zone_stuck_for(zone, now) < ADM_LOCK_STUCK_USEC);
    return result;
}

/* ---- the lock ------------------------------------------------------------- */

/* Apply what the parent has changed: the zone in this slot, whose statistics
 * start at zero, or whether it uses flows. `applied_setup` is stored last: if
 * the process is killed, the next owner does all of it again, which is
 * harmless. */
static __attribute__((noinline, cold)) void
apply_setup_locked(adm_segment_t *segment, adm_zone_rec_t *zone, uint32_t setup)
{
    uint32_t incarnation = atomic_load(&zone->incarnation);
    uint32_t table_idx = atomic_load(&zone->table_idx);

    if (zone->applied_incarnation != incarnation) {
        zone->figures = (adm_figures_t){ 0 };
        zone->queued_since = 0;
        zone->peak_kb = 0;
        adm_history_clear_locked(segment, zone);
        zone->applied_incarnation = incarnation;
    }
    if (zone->applied_table_idx != table_idx) {
        zone->applied_table_idx = table_idx;
        ADM_FAULT(setup_applied);
        adm_pool_rebuild_locked(segment, zone);
    }
    zone->applied_setup = setup;
}

/* End a ticket whose request left without the lock, as the request would have
 * ended it. How long the request ran is not counted, because it is unknown. */
static void end_left_ticket_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                                   uint32_t ticket_idx, adm_usec_t now)
{
    const adm_ticket_rec_t *ticket = adm_ticket_at(segment, ticket_idx);
    uint32_t state, how;

    if (!ticket || !adm_ticket_was_left(ticket)) {
        return;
    }
    state = atomic_load(&ticket->state);
    how = atomic_load(&ticket->bell) & ADM_BELL_HOW;
    if (state == ADM_TICKET_FREE || state == ADM_TICKET_ORPHANED) {
        return; /* done already */
    }
    if (state == ADM_TICKET_ACTIVE && how == ADM_LEFT_ABANDONED) {
        adm_zone_orphan_ticket_locked(segment, zone, ticket_idx, now);
    }
    else if (how < ADM_OUTCOMES) {
        adm_zone_cancel_ticket_locked(segment, zone, ticket_idx, how);
    }
    else {
        adm_zone_end_ticket_locked(segment, zone, ticket_idx);
    }
}

static void end_all_left_locked(adm_segment_t *segment, adm_zone_rec_t *zone)
{
    uint32_t zone_idx = adm_zone_idx(segment, zone);
    uint32_t chunk = 0, first, n;

    /* Cleared first: a request that leaves from now on sets it again. */
    atomic_store(&zone->has_left, 0); /* T12_notes_taken */
    ADM_FAULT(left_taken);
    while (
        (first = adm_chunk_next(segment, zone_idx, &chunk, segment->chunks))) {
        for (n = 0; n < ADM_CHUNK_TICKETS; n++) {
            end_left_ticket_locked(segment, zone, first + n, adm_now());
        }
    }
}

/* End the tickets whose requests left without the lock. */
static void end_left_locked(adm_segment_t *segment, adm_zone_rec_t *zone)
{
    if (atomic_load_explicit(&zone->has_left, memory_order_relaxed)) {
        end_all_left_locked(segment, zone);
    }
}

adm_zone_rec_t *adm_zone_lock_for(adm_segment_t *segment, uint32_t zone_idx,
                                  adm_usec_t patience, apr_status_t *rv)
{
    adm_zone_rec_t *zone = adm_zone_at(segment, zone_idx);
    adm_lock_result_t result;
    uint32_t setup;

    if (!zone) {
        *rv = APR_EINVAL;
        return NULL;
    }
    result = adm_lock_try(&zone->lock);
    if (result == ADM_LOCK_BUSY && patience > 0) {
        result = wait_for_lock(zone, patience);
    }
    if (result == ADM_LOCKED_OWNER_DIED) {
        adm_pool_rebuild_locked(segment, zone);
        adm_lock_mark_repaired(&zone->lock); /* R3_repaired */
    }
    else if (result != ADM_LOCKED) {
        *rv = result == ADM_LOCK_BROKEN ? ADM_LOCK_LOST
              : adm_lock_is_held_here() ? ADM_INTERRUPTED
                                        : ADM_ZONE_BUSY;
        return NULL;
    }
    setup = atomic_load_explicit(&zone->setup, memory_order_acquire);
    if (zone->applied_setup != setup) {
        apply_setup_locked(segment, zone, setup);
    }
    atomic_store_explicit(&zone->stuck_since, 0, memory_order_relaxed);
    end_left_locked(segment, zone);
    *rv = APR_SUCCESS;
    return zone;
}

/* Add up the time in which requests wait. @a now can be earlier than the time
 * recorded by another process, which read the clock later. */
static void note_queue_locked(adm_zone_rec_t *zone, adm_usec_t now)
{
    bool waits = atomic_load_explicit(&zone->queued, memory_order_relaxed) > 0;

    if (waits == (zone->queued_since != 0)) {
        return;
    }
    if (!waits && now > zone->queued_since) {
        zone->figures.queued_usec += (uint64_t)(now - zone->queued_since);
    }
    zone->queued_since = !waits ? 0 : now > 0 ? now : 1;
}

/* @return whether the agent must be woken, because what it watches for has
 * happened. Clears `watch`, so that it is woken once. */
static bool is_watched_locked(adm_zone_rec_t *zone)
{
    unsigned watch = atomic_load_explicit(&zone->watch, memory_order_relaxed);
    unsigned active, queued;

    if (watch == 0) {
        return false;
    }
    active = atomic_load(&zone->active);
    queued = atomic_load(&zone->queued);
    if (!(watch & ADM_WATCH_ENTER && (active > 0 || queued > 0))
        && !(watch & ADM_WATCH_QUEUE && queued > 0)
        && !(watch & ADM_WATCH_BACK
             && active < atomic_load(&zone->share_bound))) {
        return false;
    }
    atomic_store(&zone->watch, 0); /* N2_watch_taken */
    return true;
}

void adm_zone_watch_locked(adm_zone_rec_t *zone, unsigned which, unsigned watch)
{
    /* N1_watch */
    atomic_store(&zone->watch, (atomic_load(&zone->watch) & ~which) | watch);
    ADM_FAULT(watch_set);
}

void adm_zone_unlock(adm_segment_t *segment, adm_zone_rec_t *zone,
                     adm_usec_t now)
{
    adm_wakes_t wakes;
    apr_status_t rv;
    bool is_watched;

    do {
        end_left_locked(segment, zone);
        wakes.count = 0;
        if (adm_hand_over_is_due(zone)) {
            adm_hand_over_locked(segment, zone, now, &wakes);
        }
        note_queue_locked(zone, now);
        adm_history_note_locked(segment, zone, now);
        is_watched = is_watched_locked(zone);
        adm_lock_release(&zone->lock);
        if (is_watched) {
            ADM_FAULT(watch_taken);
            adm_agent_wake(segment); /* N3_wake_agent */
        }
        if (wakes.count) {
            ADM_FAULT(grant_unlocked);
            adm_hand_over_wake(segment, &wakes);
        }
    } while (wakes.count == ADM_WAKES_MAX
             && adm_zone_lock_for(segment, adm_zone_idx(segment, zone),
                                  ADM_LOCK_BRIEF_USEC, &rv));
}

/* ---- the steps of a ticket ------------------------------------------------ */

apr_status_t adm_zone_begin_ticket_locked(adm_child_t *child,
                                          adm_zone_rec_t *zone,
                                          enum adm_ticket_state_t state,
                                          const adm_entry_t *entry,
                                          adm_usec_t now, adm_ticket_t *ticket)
{
    adm_segment_t *segment = child->segment;
    uint32_t idx = adm_pool_take_locked(segment, zone);
    adm_ticket_rec_t *rec = adm_ticket_at(segment, idx);

    if (!rec) {
        return ADM_NO_TICKET;
    }
    rec->child_idx = child->idx;
    rec->arrival = zone->next_arrival++;
    rec->since_usec = now;
    atomic_store_explicit(&rec->bell, 0, memory_order_relaxed);
    atomic_store_explicit(&rec->programs, 0, memory_order_relaxed);
    atomic_store_explicit(&rec->program, adm_program_word(rec->arrival, 0),
                          memory_order_relaxed);
    atomic_store_explicit(&rec->begun_usec, 0, memory_order_relaxed);
    ticket->idx = idx;
    ticket->arrival = rec->arrival;
    if (fair_flow_is_used(zone)) {
        fair_flow_ask_locked(segment, entry, idx,
                             state == ADM_TICKET_ACTIVE
                                 ? adm_limit_effective(zone)
                                 : UINT32_MAX);
    }
    ADM_FAULT(enter_filled);
    /* T1_enter_active, T2_enter_waiting */
    atomic_store_explicit(&rec->state, state, memory_order_release);
    ADM_FAULT(enter_stored);
    if (state == ADM_TICKET_ACTIVE) {
        rec->prev_idx = 0; /* on no list */
        rec->next_idx = 0;
        adm_count_permit_locked(zone, now);
        fair_flow_follow_locked(segment, zone, idx, FAIR_FLOW_OUT,
                                FAIR_FLOW_HOLDS);
    }
    else {
        adm_link_insert_locked(adm_queue_of(segment, zone), idx);
        fair_flow_follow_locked(segment, zone, idx, FAIR_FLOW_OUT,
                                FAIR_FLOW_WAITS);
        /* Sequentially consistent: if a round made for a raised limit does not
         * see this ticket, the unlock that follows here sees the raised
         * limit. */
        atomic_store(&zone->queued, atomic_load(&zone->queued) + 1);
    }
    return APR_SUCCESS;
}

/* Time that a permit is kept for a program whose end cannot be observed. */
#define UNSEEN_HOLD_USEC (10 * ADM_USEC_PER_SEC)

/* Longer than httpd runs. */
#define FOREVER_USEC (ADM_USEC_PER_SEC * 86400 * 365 * 100)

void adm_zone_orphan_ticket_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                                   uint32_t ticket_idx, adm_usec_t now)
{
    adm_ticket_rec_t *ticket = adm_ticket_at(segment, ticket_idx);
    unsigned orphans = atomic_load(&zone->orphans);
    adm_usec_t hold = atomic_load(&segment->header->orphan_hold_usec);
    unsigned programs = atomic_load(&ticket->programs);

    adm_hand_over_settle_ticket_locked(segment, zone, ticket_idx);
    if (programs & ADM_PROGRAMS_UNSEEN) {
        hold = hold < UNSEEN_HOLD_USEC ? hold : UNSEEN_HOLD_USEC;
    }
    else if (programs & ADM_PROGRAMS_ABANDONED) {
        hold = FOREVER_USEC; /* httpd ends it, with its request */
    }
    ticket->held_until_usec = now + hold;
    /* T7_orphan, T10_abandon */
    atomic_store(&ticket->state, ADM_TICKET_ORPHANED);
    ADM_FAULT(reap_orphaned);
    /* Cleared last: an ACTIVE ticket without a child would never be reaped. */
    ticket->child_idx = 0;
    atomic_store(&zone->orphans, orphans + 1);
}

void adm_zone_cancel_ticket_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                                   uint32_t ticket_idx, adm_outcome_t outcome)
{
    adm_ticket_rec_t *ticket = adm_ticket_at(segment, ticket_idx);

    /* A blocked request starts when it wakes up, before it checks its client.
     * If its start is not settled yet, only @a outcome is counted. */
    if (atomic_load(&ticket->state) != ADM_TICKET_ACTIVE
        || adm_link_remove_locked(adm_grants_of(segment, zone), ticket_idx)) {
        zone->figures.outcomes[outcome]++;
    }
    adm_zone_end_ticket_locked(segment, zone, ticket_idx);
}

void adm_zone_end_ticket_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                                uint32_t ticket_idx)
{
    adm_ticket_rec_t *ticket = adm_ticket_at(segment, ticket_idx);
    uint32_t state = atomic_load(&ticket->state);

    if (state == ADM_TICKET_ACTIVE && zone->granted_idx) {
        adm_hand_over_settle_ticket_locked(segment, zone, ticket_idx);
    }
    /* T4_cancel, T5_release, T6_reap, T8_cancel_granted, T9_orphan_ends */
    atomic_store(&ticket->state, ADM_TICKET_FREE);
    switch (state) {
    case ADM_TICKET_WAITING:
        ADM_FAULT(cancel_stored);
        adm_link_remove_locked(adm_queue_of(segment, zone), ticket_idx);
        adm_count_locked(&zone->queued, -1);
        fair_flow_follow_locked(segment, zone, ticket_idx, FAIR_FLOW_WAITS,
                                FAIR_FLOW_OUT);
        break;
    case ADM_TICKET_ORPHANED:
        adm_count_locked(&zone->orphans, -1);
        /* fall through */
    case ADM_TICKET_GRANTED:
    case ADM_TICKET_ACTIVE:
        ADM_FAULT(leave_stored);
        if (atomic_load(&ticket->programs) > 0) {
            adm_account_end_locked(segment, zone, ticket_idx);
        }
        if (state == ADM_TICKET_GRANTED) {
            adm_link_remove_locked(adm_grants_of(segment, zone), ticket_idx);
        }
        adm_count_locked(&zone->active, -1);
        fair_flow_follow_locked(segment, zone, ticket_idx, FAIR_FLOW_HOLDS,
                                FAIR_FLOW_OUT);
        ADM_FAULT(leave_unlinked);
        break;
    default:
        return; /* FREE already, so on the free list */
    }
    adm_pool_put_locked(segment, zone, ticket_idx);
}

adm_zone_rec_t *adm_zone_open(adm_segment_t *segment, adm_zone_t handle,
                              adm_usec_t now, apr_status_t *rv)
{
    adm_zone_rec_t *zone = adm_zone_lock_for(segment, handle.idx,
                                             ADM_LOCK_BRIEF_USEC, rv);

    if (zone && zone->applied_incarnation != handle.incarnation) {
        adm_zone_unlock(segment, zone, now);
        *rv = ADM_ZONE_RETIRED;
        return NULL;
    }
    return zone;
}

/* ---- counts --------------------------------------------------------------- */

void adm_zone_count_exempt(adm_child_t *child, adm_zone_t zone)
{
    adm_usec_t now = adm_now();
    apr_status_t rv;
    adm_zone_rec_t *rec = adm_zone_open(child->segment, zone, now, &rv);

    if (rec) {
        rec->figures.outcomes[ADM_EXEMPT]++;
        adm_zone_unlock(child->segment, rec, now);
    }
}

bool adm_zone_may_log(adm_segment_t *segment, adm_zone_t zone,
                      adm_outcome_t outcome, adm_usec_t now,
                      adm_usec_t interval)
{
    adm_zone_rec_t *rec = adm_zone_at(segment, zone.idx);

    return adm_due(rec ? &rec->next_log[outcome]
                       : &segment->header->next_log[outcome],
                   now, interval);
}
