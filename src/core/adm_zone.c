/* adm_zone.c - the zone's lock, and every step of a ticket under it.
 * Called by adm_ticket, adm_reap, adm_round and adm_view.
 *
 * Comments like T3_grant name the steps as t/model/tickets.pml does. Each T is
 * one store of a ticket's state, followed by the caches that it changes.
 */
#include "adm_clock.h"
#include "adm_doorbell.h"
#include "adm_fault.h"
#include "adm_figures.h"
#include "adm_history.h"
#include "adm_layout.h"
#include "adm_limit.h"
#include "adm_lock.h"
#include "adm_pool.h"
#include "adm_queue.h"
#include "adm_stuck.h"
#include "adm_wait.h"
#include "adm_zone.h"

/* ---- the lock ------------------------------------------------------------- */

/* The place has another zone now: its figures begin at zero. */
static void begin_incarnation_locked(adm_segment_t *segment,
                                     adm_zone_rec_t *zone, uint32_t incarnation)
{
    zone->figures = (adm_figures_t){ 0 };
    adm_history_clear_locked(segment, zone);
    zone->applied_incarnation = incarnation;
}

/* What its request would have done, had it got the lock. How long it ran is not
 * known any more. */
static void end_left_ticket_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                                   uint32_t ticket_idx, adm_usec_t now)
{
    adm_ticket_rec_t *ticket = adm_ticket_at(segment, ticket_idx);
    uint32_t state = atomic_load(&ticket->state);
    uint32_t bell = atomic_load(&ticket->bell);
    uint32_t how = bell & ~ADM_BELL_LEFT;

    if (!(bell & ADM_BELL_LEFT)
        || (state != ADM_TICKET_WAITING && state != ADM_TICKET_ACTIVE)) {
        return;
    }
    if (state == ADM_TICKET_ACTIVE && how == ADM_LEFT_ABANDONED) {
        adm_zone_orphan_ticket_locked(segment, zone, ticket, now);
        return;
    }
    if (how < ADM_OUTCOMES) {
        zone->figures.outcomes[how]++;
    }
    adm_zone_end_ticket_locked(segment, zone, ticket_idx);
}

static void adm_zone_end_all_left_locked(adm_segment_t *segment,
                                         adm_zone_rec_t *zone)
{
    uint32_t zone_idx = adm_zone_idx(segment, zone);
    uint32_t chunk, n;

    /* First: whoever leaves from now on stores it again. */
    atomic_store(&zone->has_left, 0); /* T12_notes_taken */
    ADM_FAULT(left_taken);
    for (chunk = 0; chunk < segment->chunks; chunk++) {
        if (atomic_load(&segment->chunk_recs[chunk].zone_idx) != zone_idx) {
            continue;
        }
        for (n = 0; n < ADM_CHUNK_TICKETS; n++) {
            end_left_ticket_locked(segment, zone,
                                   chunk * ADM_CHUNK_TICKETS + 1 + n,
                                   adm_now());
        }
    }
}

static void end_left_locked(adm_segment_t *segment, adm_zone_rec_t *zone)
{
    if (atomic_load_explicit(&zone->has_left, memory_order_relaxed)) {
        adm_zone_end_all_left_locked(segment, zone);
    }
}

adm_zone_rec_t *adm_zone_lock_for(adm_segment_t *segment, uint32_t zone_idx,
                                  adm_usec_t patience, apr_status_t *rv)
{
    adm_zone_rec_t *zone = adm_zone_at(segment, zone_idx);
    adm_lock_result_t result;
    uint32_t incarnation;

    if (!zone) {
        *rv = APR_EINVAL;
        return NULL;
    }
    result = adm_lock_try(&zone->lock);
    if (result == ADM_LOCK_BUSY && patience > 0) {
        result = adm_stuck_acquire(zone, patience);
    }
    switch (result) {
    case ADM_LOCKED:
        break;
    case ADM_LOCKED_OWNER_DIED:
        adm_pool_rebuild_locked(segment, zone);
        adm_lock_mark_repaired(&zone->lock); /* R3_repaired */
        break;
    case ADM_LOCK_BUSY:
        *rv = adm_lock_is_held_here() ? ADM_INTERRUPTED : ADM_ZONE_BUSY;
        return NULL;
    case ADM_LOCK_BROKEN:
        *rv = ADM_LOCK_LOST;
        return NULL;
    }
    incarnation = atomic_load_explicit(&zone->incarnation,
                                       memory_order_relaxed);
    if (zone->applied_incarnation != incarnation) {
        begin_incarnation_locked(segment, zone, incarnation);
    }
    atomic_store_explicit(&zone->stuck_since, 0, memory_order_relaxed);
    end_left_locked(segment, zone);
    *rv = APR_SUCCESS;
    return zone;
}

static void add_to(atomic_uint *cache, int difference)
{
    /* Only the lock's owner writes: a load and a store, no locked operation. */
    unsigned value = atomic_load_explicit(cache, memory_order_relaxed);

    atomic_store_explicit(cache, value + (unsigned)difference,
                          memory_order_relaxed);
}

/* ---- hand-over ------------------------------------------------------------ */

typedef struct adm_wakes_t {
    uint32_t count; /* ADM_WAKES_MAX: there may be more to grant */
    struct {
        uint32_t ticket_idx;
        uint32_t child_idx;
        uint32_t bell; /* as in the ticket */
    } granted[ADM_WAKES_MAX];
} adm_wakes_t;

/* A ticket has become ACTIVE. */
static void add_active_locked(adm_zone_rec_t *zone, adm_usec_t since)
{
    if (atomic_load_explicit(&zone->active, memory_order_relaxed) == 0
        || since < zone->busy_since_usec) {
        zone->busy_since_usec = since;
    }
    add_to(&zone->active, 1);
}

static void grant_first_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                               adm_ticket_rec_t *ticket, adm_usec_t now,
                               adm_wakes_t *wakes)
{
    uint32_t idx = zone->head_idx;
    adm_usec_t waited = now - ticket->since_usec;

    ticket->since_usec = now;
    atomic_store(&ticket->state, ADM_TICKET_ACTIVE); /* T3_grant */
    ADM_FAULT(grant_stored);
    adm_queue_unlink_locked(segment, zone, idx);
    add_to(&zone->queued, -1);
    add_active_locked(zone, now);
    zone->figures.outcomes[ADM_WAITED]++;
    adm_figures_add_duration(&zone->figures.wait, waited);

    wakes->granted[wakes->count].ticket_idx = idx;
    wakes->granted[wakes->count].child_idx = ticket->child_idx;
    wakes->granted[wakes->count].bell = atomic_load(&ticket->bell);
    wakes->count++;
}

static void grant_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                         adm_usec_t now, adm_wakes_t *wakes)
{
    bool is_rebuilt = false;

    wakes->count = 0;
    while (zone->head_idx && wakes->count < ADM_WAKES_MAX
           && adm_limit_has_free_permit(zone)) {
        adm_ticket_rec_t *ticket = adm_ticket_at(segment, zone->head_idx);

        if (ticket && atomic_load(&ticket->state) == ADM_TICKET_WAITING) {
            grant_first_locked(segment, zone, ticket, now, wakes);
        }
        else if (!is_rebuilt) {
            /* Somebody wrote into the line. The tickets know better. */
            adm_pool_rebuild_locked(segment, zone);
            is_rebuilt = true;
        }
        else {
            return;
        }
    }
}

static void wake_granted(adm_segment_t *segment, const adm_wakes_t *wakes)
{
    uint32_t i;

    for (i = 0; i < wakes->count; i++) {
        uint32_t bell = wakes->granted[i].bell;

        if (bell) {
            adm_doorbell_ring_slot(segment, wakes->granted[i].child_idx,
                                   bell - 1);
        }
        else {
            uint32_t idx = wakes->granted[i].ticket_idx;

            adm_wait_wake(&adm_ticket_at(segment, idx)->state); /* W4_wake */
        }
    }
}

void adm_zone_unlock(adm_segment_t *segment, adm_zone_rec_t *zone,
                     adm_usec_t now)
{
    uint32_t zone_idx = adm_zone_idx(segment, zone);
    adm_wakes_t wakes;
    apr_status_t rv;

    do {
        end_left_locked(segment, zone);
        grant_locked(segment, zone, now, &wakes);
        adm_history_note_locked(segment, zone, now);
        adm_lock_release(&zone->lock);
        if (wakes.count) {
            ADM_FAULT(grant_unlocked);
            wake_granted(segment, &wakes);
        }
    } while (wakes.count == ADM_WAKES_MAX
             && adm_zone_lock_for(segment, zone_idx, ADM_LOCK_BRIEF_USEC, &rv));
}

/* ---- the steps of a ticket ------------------------------------------------ */

/* Make the ticket count: ACTIVE or WAITING. */
apr_status_t adm_zone_begin_ticket_locked(adm_child_t *child,
                                          adm_zone_rec_t *zone,
                                          enum adm_ticket_state_t state,
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
    atomic_store_explicit(&rec->missed_since, 0, memory_order_relaxed);
    ticket->idx = idx;
    ticket->arrival = rec->arrival;
    ADM_FAULT(enter_filled);
    /* T1_enter_active, T2_enter_waiting */
    atomic_store_explicit(&rec->state, state, memory_order_release);
    ADM_FAULT(enter_stored);
    if (state == ADM_TICKET_ACTIVE) {
        add_active_locked(zone, now);
    }
    else {
        adm_queue_append_locked(segment, zone, idx);
        /* In sequence: a round that still sees nobody here began before the
         * look at the limit that comes before the unlock, and so that sees a
         * limit for which the round is made. */
        atomic_store(&zone->queued, atomic_load(&zone->queued) + 1);
    }
    return APR_SUCCESS;
}

void adm_zone_orphan_ticket_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                                   adm_ticket_rec_t *ticket, adm_usec_t now)
{
    unsigned orphans = atomic_load(&zone->orphans);

    atomic_store(&ticket->missed_since, 0);
    ticket->until_usec = now + atomic_load(&segment->header->orphan_hold_usec);
    /* T7_orphan, T10_abandon */
    atomic_store(&ticket->state, ADM_TICKET_ORPHANED);
    ADM_FAULT(reap_orphaned);
    /* Not before: an ACTIVE ticket of nobody would never be reaped. */
    ticket->child_idx = 0;
    atomic_store(&zone->orphans, orphans + 1);
}

void adm_zone_end_ticket_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                                uint32_t ticket_idx)
{
    adm_ticket_rec_t *ticket = adm_ticket_at(segment, ticket_idx);
    uint32_t state = atomic_load(&ticket->state);

    /* T4_cancel, T5_release, T6_reap, T8_cancel_granted, T9_orphan_ends */
    atomic_store(&ticket->state, ADM_TICKET_FREE);
    switch (state) {
    case ADM_TICKET_WAITING:
        ADM_FAULT(cancel_stored);
        adm_queue_unlink_locked(segment, zone, ticket_idx);
        add_to(&zone->queued, -1);
        break;
    case ADM_TICKET_ORPHANED:
        add_to(&zone->orphans, -1);
        /* fall through */
    case ADM_TICKET_ACTIVE:
        ADM_FAULT(leave_stored);
        add_to(&zone->active, -1);
        ADM_FAULT(leave_unlinked);
        break;
    default:
        return; /* FREE already: it is on the free list */
    }
    adm_pool_put_locked(segment, zone, ticket_idx);
}

/* ---- counts --------------------------------------------------------------- */

void adm_zone_count_exempt(adm_child_t *child, adm_zone_t zone)
{
    apr_status_t rv;
    adm_zone_rec_t *rec = adm_zone_lock_for(child->segment, zone.idx,
                                            ADM_LOCK_BRIEF_USEC, &rv);

    if (rec) {
        if (rec->applied_incarnation == zone.incarnation) {
            rec->figures.outcomes[ADM_EXEMPT]++;
        }
        adm_zone_unlock(child->segment, rec, adm_now());
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
