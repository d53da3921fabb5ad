/* adm_zone.c - enter, wait, leave: the state machine of tickets.
 *
 * Comments like T3_grant name the steps as t/model/tickets.pml does. Each T up
 * to T10 is one store of a ticket's state, followed by the caches that it
 * changes.
 */
#include "adm_fault.h"
#include "adm_layout.h"
#include "adm_wait.h"

/* Private bits of adm_ticket_t.flags. */
enum { HAS_WORKER = 0x100, IS_BLOCKED = 0x200, IS_PARKED = 0x400 };
/* No connections are left to block with; runs or blocks with its worker. */
enum { FINDS_NO_ROOM = 0x800, IS_SETTLED = 0x1000 };

/* ---- the zone's lock ----------------------------------------------------------- */

/* The place has another zone now: its figures begin at zero. */
static void begin_incarnation_locked(adm_segment_t *segment,
                                     adm_zone_rec_t *zone, uint32_t incarnation)
{
    zone->queued_max = 0;
    zone->service_mean_usec = 0;
    zone->admitted = 0;
    zone->admitted_after_wait = 0;
    zone->exempt = 0;
    zone->rejected_full = 0;
    zone->rejected_timeout = 0;
    zone->rejected_reserve = 0;
    zone->rejected_parking = 0;
    zone->gone = 0;
    zone->reclaimed = 0;
    zone->wait = (adm_durations_t){ 0 };
    zone->service = (adm_durations_t){ 0 };
    adm_history_clear_locked(segment, zone);
    zone->applied_incarnation = incarnation;
}

static void end_left_locked(adm_segment_t *segment, adm_zone_rec_t *zone)
{
    if (atomic_load_explicit(&zone->has_left, memory_order_relaxed)) {
        adm_stuck_end_left_locked(segment, zone);
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
        adm_ticket_rebuild_locked(segment, zone);
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

/* The limit in sequence with `queued`: see begin_ticket_locked(). */
static bool has_free_permit(const adm_zone_rec_t *zone)
{
    return atomic_load_explicit(&zone->active, memory_order_relaxed)
           < atomic_load(&zone->limit);
}

/* A ticket has become ACTIVE. */
static void add_active_locked(adm_zone_rec_t *zone, adm_usec_t since)
{
    if (atomic_load_explicit(&zone->active, memory_order_relaxed) == 0
        || since < zone->busy_since_usec) {
        zone->busy_since_usec = since;
    }
    add_to(&zone->active, 1);
}

/* ---- hand-over ------------------------------------------------------------------ */

static void grant_first_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                               adm_ticket_rec_t *ticket, adm_usec_t now,
                               adm_wakes_t *wakes)
{
    uint32_t idx = zone->head_idx;
    adm_usec_t waited = now - ticket->since_usec;

    ticket->since_usec = now;
    atomic_store(&ticket->state, ADM_TICKET_ACTIVE); /* T3_grant */
    ADM_FAULT(grant_stored);
    adm_ticket_unlink_locked(segment, zone, idx);
    add_to(&zone->queued, -1);
    add_active_locked(zone, now);
    zone->admitted++;
    zone->admitted_after_wait++;
    adm_durations_add(&zone->wait, waited);

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
           && has_free_permit(zone)) {
        adm_ticket_rec_t *ticket = adm_ticket_at(segment, zone->head_idx);

        if (ticket && atomic_load(&ticket->state) == ADM_TICKET_WAITING) {
            grant_first_locked(segment, zone, ticket, now, wakes);
        }
        else if (!is_rebuilt) {
            /* Somebody wrote into the line. The tickets know better. */
            adm_ticket_rebuild_locked(segment, zone);
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

            adm_wake(&adm_ticket_at(segment, idx)->state); /* W4_wake */
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

/* ---- enter ----------------------------------------------------------------------- */

/* Make the ticket count: ACTIVE or WAITING. */
static apr_status_t begin_ticket_locked(adm_child_t *child,
                                        adm_zone_rec_t *zone,
                                        enum adm_ticket_state_t state,
                                        adm_usec_t now, adm_ticket_t *ticket)
{
    adm_segment_t *segment = child->segment;
    uint32_t idx = adm_ticket_take_locked(segment, zone);
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
        zone->admitted++;
    }
    else {
        adm_ticket_append_locked(segment, zone, idx);
        /* In sequence: a round that still sees nobody here began before the
         * look at the limit that comes before the unlock, and so that sees a
         * limit for which the round is made. */
        atomic_store(&zone->queued, atomic_load(&zone->queued) + 1);
    }
    return APR_SUCCESS;
}

static void note_queue_length_locked(adm_zone_rec_t *zone, uint32_t queued)
{
    if (queued > zone->queued_max) {
        zone->queued_max = queued;
    }
}

/* A dry run admits everybody; those beyond the limit are the would-be line. */
static apr_status_t enter_dry_locked(adm_child_t *child, adm_zone_rec_t *zone,
                                     uint32_t queue_length, adm_usec_t now,
                                     adm_ticket_t *ticket)
{
    uint32_t limit = atomic_load(&zone->limit);
    uint32_t active = atomic_load(&zone->active);
    uint32_t line = active > limit ? active - limit : 0;
    apr_status_t rv = begin_ticket_locked(child, zone, ADM_TICKET_ACTIVE, now,
                                          ticket);

    ticket->queued_ahead = line;
    if (rv != APR_SUCCESS || active < limit) {
        return rv;
    }
    if (line >= queue_length) {
        zone->rejected_full++;
        return ADM_DRY_FULL;
    }
    zone->admitted_after_wait++;
    note_queue_length_locked(zone, line + 1);
    return ADM_DRY_QUEUED;
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
static adm_usec_t drain_time(const adm_zone_rec_t *zone, uint32_t queued,
                             adm_usec_t now)
{
    uint32_t limit = atomic_load(&zone->limit);

    return (adm_usec_t)((queued + 1) * service_time(zone, now)
                        / (limit ? limit : 1));
}

static apr_status_t reject_locked(adm_zone_rec_t *zone, adm_ticket_t *ticket,
                                  adm_usec_t now, uint64_t *counter,
                                  apr_status_t rv)
{
    (*counter)++;
    ticket->drain_usec = drain_time(zone, ticket->queued_ahead, now);
    return rv;
}

/* Asked before the zone is locked: it may look at all children. */
static void look_for_room(adm_ticket_t *ticket)
{
    if ((ticket->flags & ADM_USES_WORKER)
        && !adm_child_has_connections(ticket->child,
                                      ticket->child->connections_per_worker)) {
        ticket->flags |= FINDS_NO_ROOM;
    }
}

/* A child must not block its last threads: somebody in its line may have been
 * granted already and need one to go on. @return APR_SUCCESS, ADM_NO_ROOM,
 * ADM_RESERVED. */
static apr_status_t begin_blocking(adm_ticket_t *ticket)
{
    adm_child_t *child = ticket->child;

    if (ticket->flags & FINDS_NO_ROOM) {
        return ADM_NO_ROOM;
    }
    if ((ticket->flags & ADM_USES_WORKER)
        && atomic_fetch_add(&child->rec->workers_blocked, 1)
               >= child->blocked_max) {
        atomic_fetch_sub(&child->rec->workers_blocked, 1);
        return ADM_RESERVED;
    }
    atomic_fetch_add(&child->rec->blocked, 1);
    ticket->flags |= IS_BLOCKED;
    return APR_SUCCESS;
}

static void end_blocking(adm_ticket_t *ticket)
{
    if (ticket->flags & IS_BLOCKED) {
        ticket->flags &= ~(uint32_t)IS_BLOCKED;
        atomic_fetch_sub(&ticket->child->rec->blocked, 1);
        if (ticket->flags & ADM_USES_WORKER) {
            atomic_fetch_sub(&ticket->child->rec->workers_blocked, 1);
        }
    }
}

static apr_status_t enter_locked(adm_child_t *child, adm_zone_rec_t *zone,
                                 bool has_worker, uint32_t queue_length,
                                 adm_usec_t now, adm_ticket_t *ticket)
{
    uint32_t queued = atomic_load_explicit(&zone->queued, memory_order_relaxed);
    apr_status_t rv;

    atomic_store_explicit(&zone->queue_length, queue_length,
                          memory_order_relaxed);
    if (ticket->flags & ADM_DRY_RUN) {
        return enter_dry_locked(child, zone, queue_length, now, ticket);
    }
    ticket->queued_ahead = queued;
    if (queued == 0 && has_free_permit(zone)) {
        if (!has_worker) {
            return reject_locked(zone, ticket, now, &zone->rejected_reserve,
                                 ADM_RESERVED);
        }
        return begin_ticket_locked(child, zone, ADM_TICKET_ACTIVE, now, ticket);
    }
    if (!(ticket->flags & ADM_MAY_WAIT) || queued >= queue_length) {
        return reject_locked(zone, ticket, now, &zone->rejected_full,
                             ADM_QUEUE_FULL);
    }
    if (ticket->flags & ADM_BLOCKS_WORKER) {
        rv = has_worker ? begin_blocking(ticket) : ADM_RESERVED;
        if (rv != APR_SUCCESS) {
            return reject_locked(zone, ticket, now,
                                 rv == ADM_NO_ROOM ? &zone->rejected_parking
                                                   : &zone->rejected_reserve,
                                 rv);
        }
    }
    rv = begin_ticket_locked(child, zone, ADM_TICKET_WAITING, now, ticket);
    if (rv != APR_SUCCESS) {
        end_blocking(ticket);
        return rv;
    }
    note_queue_length_locked(zone, queued + 1);
    return ADM_QUEUED;
}

static void settle_worker(adm_ticket_t *ticket)
{
    if ((ticket->flags & HAS_WORKER) && !(ticket->flags & IS_SETTLED)) {
        ticket->flags |= IS_SETTLED;
        atomic_fetch_add(&ticket->child->rec->workers_settled, 1);
    }
}

static void return_worker(adm_ticket_t *ticket)
{
    if (ticket->flags & IS_SETTLED) {
        ticket->flags &= ~(uint32_t)IS_SETTLED;
        atomic_fetch_sub(&ticket->child->rec->workers_settled, 1);
    }
    if (ticket->flags & HAS_WORKER) {
        ticket->flags &= ~(uint32_t)HAS_WORKER;
        adm_child_return_worker(ticket->child);
    }
}

static bool has_ticket(apr_status_t rv)
{
    return rv == APR_SUCCESS || rv == ADM_QUEUED || rv == ADM_DRY_QUEUED
           || rv == ADM_DRY_FULL;
}

/* What the child counts of its own tickets, once it is known how it went. */
static void note_entered(adm_ticket_t *ticket, apr_status_t rv)
{
    bool is_parking = rv == ADM_QUEUED && !(ticket->flags & ADM_BLOCKS_WORKER);

    if (!has_ticket(rv) || is_parking) {
        return_worker(ticket);
    }
    else {
        settle_worker(ticket);
    }
    if (has_ticket(rv)) {
        atomic_store(&ticket->held, 1);
    }
}

apr_status_t adm_zone_enter(adm_child_t *child, adm_zone_t zone, unsigned flags,
                            uint32_t queue_length, adm_usec_t now,
                            adm_ticket_t *ticket)
{
    adm_segment_t *segment = child->segment;
    adm_zone_rec_t *rec = adm_zone_at(segment, zone.idx);
    apr_status_t rv;
    bool has_worker = !(flags & ADM_NO_WORKER_LEFT);

    if (rec && !has_free_permit(rec)) {
        adm_audit(child, now, false); /* the dead may hold what is missing */
    }
    ticket->child = child;
    ticket->zone_idx = zone.idx;
    ticket->flags = flags;
    if (flags & ADM_USES_WORKER) {
        has_worker = adm_child_take_worker(child, (flags & ADM_DRY_RUN) != 0);
        ticket->flags |= has_worker ? HAS_WORKER : 0;
    }
    if (flags & ADM_BLOCKS_WORKER) {
        look_for_room(ticket);
    }
    rec = adm_zone_lock(segment, zone.idx, &rv);
    if (rec) {
        ADM_FAULT(enter_locked);
        rv = rec->applied_incarnation == zone.incarnation
                 ? enter_locked(child, rec, has_worker, queue_length, now,
                                ticket)
                 : ADM_ZONE_RETIRED;
        adm_zone_unlock(segment, rec, now);
        ADM_FAULT(enter_unlocked);
    }
    note_entered(ticket, rv);
    return rv;
}

void adm_zone_count_exempt(adm_child_t *child, adm_zone_t zone)
{
    apr_status_t rv;
    adm_zone_rec_t *rec = adm_zone_lock_for(child->segment, zone.idx,
                                            ADM_LOCK_BRIEF_USEC, &rv);

    if (rec) {
        rec->exempt += rec->applied_incarnation == zone.incarnation;
        adm_zone_unlock(child->segment, rec, adm_now());
    }
}

/* ---- wait ------------------------------------------------------------------------- */

static adm_ticket_rec_t *rec_of(const adm_ticket_t *ticket)
{
    return adm_ticket_at(ticket->child->segment, ticket->idx);
}

bool adm_ticket_is_granted(const adm_ticket_t *ticket)
{
    return atomic_load(&rec_of(ticket)->state) == ADM_TICKET_ACTIVE;
}

apr_status_t adm_ticket_wait(adm_ticket_t *ticket, adm_usec_t until)
{
    adm_ticket_rec_t *rec = rec_of(ticket);

    for (;;) {
        adm_usec_t now = adm_now();
        adm_usec_t slice = now + ADM_WAIT_SLICE_USEC;

        switch (atomic_load(&rec->state)) {
        case ADM_TICKET_ACTIVE: /* W2_slice_sees_grant, if nobody woke it */
            end_blocking(ticket);
            return APR_SUCCESS;
        case ADM_TICKET_WAITING:
            break;
        default:
            return ADM_BAD_SEGMENT; /* taken away: the segment is torn */
        }
        if (adm_child_is_stopping(ticket->child)) {
            return ADM_STOPPING;
        }
        if (now >= until) {
            return APR_TIMEUP;
        }
        if (adm_ticket_is_stuck(ticket, now)) {
            return ADM_ZONE_BUSY;
        }
        ADM_FAULT(wait_sleeping);
        /* A slice only: nobody wakes a child that is to stop, nor the waiter
         * whose granter was killed. W1_sleep: */
        adm_sleep(&rec->state, ADM_TICKET_WAITING,
                  slice < until ? slice : until);
    }
}

void adm_ticket_park(adm_ticket_t *ticket, uint32_t slot)
{
    adm_child_t *child = ticket->child;

    return_worker(ticket);
    ticket->flags |= IS_PARKED;
    atomic_fetch_add(&child->rec->parked, 1);
    atomic_store(&rec_of(ticket)->bell, slot + 1);
    /* Whoever granted before it could see the bell did not ring it. */
    if (adm_ticket_is_granted(ticket)) {
        adm_doorbell_ring_slot(child->segment, child->idx, slot);
    }
}

static void end_parking(adm_ticket_t *ticket)
{
    if (ticket->flags & IS_PARKED) {
        ticket->flags &= ~(uint32_t)IS_PARKED;
        atomic_store(&rec_of(ticket)->bell, 0);
        atomic_fetch_sub(&ticket->child->rec->parked, 1);
    }
}

static void force_worker(adm_ticket_t *ticket)
{
    if ((ticket->flags & ADM_USES_WORKER) && !(ticket->flags & HAS_WORKER)) {
        adm_child_take_worker(ticket->child, true);
        ticket->flags |= HAS_WORKER;
    }
    settle_worker(ticket);
}

void adm_ticket_unpark(adm_ticket_t *ticket)
{
    end_parking(ticket);
    /* A permit without a worker would be wasted: mostly whoever handed it over
     * has left one, or is about to. If somebody else was faster, or it was an
     * HTTP/2 stream, one more is held than the cap says. */
    force_worker(ticket);
}

/* ---- leave ------------------------------------------------------------------------ */

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
        adm_ticket_unlink_locked(segment, zone, ticket_idx);
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
    adm_ticket_put_locked(segment, zone, ticket_idx);
}

static void note_served_locked(adm_zone_rec_t *zone, adm_usec_t served)
{
    int64_t mean = (int64_t)zone->service_mean_usec;

    adm_durations_add(&zone->service, served);
    /* The first one sets the mean, later ones move it by an eighth. */
    zone->service_mean_usec = (uint64_t)(zone->service.count == 1
                                             ? served
                                             : mean + (served - mean) / 8);
}

void adm_zone_count_reason_locked(adm_zone_rec_t *zone, adm_reason_t reason)
{
    switch (reason) {
    case ADM_REASON_TIMEOUT:
        zone->rejected_timeout++;
        break;
    case ADM_REASON_RESERVE:
        zone->rejected_reserve++;
        break;
    case ADM_REASON_PARKING:
        zone->rejected_parking++;
        break;
    case ADM_REASON_GONE:
        zone->gone++;
        break;
    case ADM_REASON_STUCK:
    case ADM_REASON_STOPPING:
        break;
    }
}

/* Lock the zone of a ticket that is this child's. NULL with APR_SUCCESS if it
 * is not, which only a torn segment can bring about. */
static adm_zone_rec_t *lock_own_zone(adm_ticket_t *ticket, adm_usec_t now,
                                     apr_status_t *rv)
{
    adm_segment_t *segment = ticket->child->segment;
    adm_ticket_rec_t *rec = rec_of(ticket);
    adm_zone_rec_t *zone = adm_zone_lock(segment, ticket->zone_idx, rv);

    if (zone
        && (rec->child_idx != ticket->child->idx
            || rec->arrival != ticket->arrival)) {
        adm_zone_unlock(segment, zone, now);
        zone = NULL;
    }
    return zone;
}

static void end_own_ticket(adm_ticket_t *ticket)
{
    end_blocking(ticket);
    return_worker(ticket);
}

apr_status_t adm_ticket_cancel(adm_ticket_t *ticket, adm_reason_t reason,
                               adm_usec_t now)
{
    adm_zone_rec_t *zone;
    apr_status_t rv;

    if (!adm_child_is_self(ticket->child) || !atomic_load(&ticket->held)) {
        return APR_SUCCESS;
    }
    end_parking(ticket);
    zone = lock_own_zone(ticket, now, &rv);
    if ((zone || rv != APR_SUCCESS) && reason <= ADM_REASON_STUCK
        && adm_ticket_is_granted(ticket)) {
        if (zone) {
            adm_zone_unlock(ticket->child->segment, zone, now);
        }
        end_blocking(ticket);
        return APR_EBUSY;
    }
    if (zone) {
        adm_zone_count_reason_locked(zone, reason);
        ticket->drain_usec = drain_time(zone, atomic_load(&zone->queued), now);
        adm_zone_end_ticket_locked(ticket->child->segment, zone, ticket->idx);
        adm_zone_unlock(ticket->child->segment, zone, now);
    }
    else if (rv != APR_SUCCESS) {
        adm_stuck_leave(ticket, reason, now);
    }
    atomic_store(&ticket->held, 0);
    end_own_ticket(ticket);
    return APR_SUCCESS;
}

/* Who was granted at the last moment runs on the thread that it has. */
static apr_status_t turn_away(adm_ticket_t *ticket, adm_usec_t now)
{
    if (adm_ticket_cancel(ticket, ADM_REASON_PARKING, now) == APR_EBUSY) {
        force_worker(ticket);
        return APR_SUCCESS;
    }
    return ADM_NO_ROOM;
}

apr_status_t adm_ticket_block(adm_ticket_t *ticket, adm_usec_t now)
{
    if ((ticket->flags & ADM_USES_WORKER) && !(ticket->flags & HAS_WORKER)) {
        if (!adm_child_take_worker(ticket->child, false)) {
            return turn_away(ticket, now);
        }
        ticket->flags |= HAS_WORKER;
    }
    look_for_room(ticket);
    if (begin_blocking(ticket) != APR_SUCCESS) {
        return turn_away(ticket, now);
    }
    settle_worker(ticket);
    return APR_SUCCESS;
}

/* End one's own ticket: its permit is free, or stays with its program. */
static void leave(adm_ticket_t *ticket, adm_usec_t now, bool is_abandoned)
{
    adm_segment_t *segment;
    adm_zone_rec_t *zone;
    apr_status_t rv;

    if (!atomic_load(&ticket->held) || !adm_child_is_self(ticket->child)
        || !atomic_exchange(&ticket->held, 0)) {
        return;
    }
    segment = ticket->child->segment;
    end_parking(ticket);
    zone = lock_own_zone(ticket, now, &rv);
    if (zone) {
        bool is_granted = adm_ticket_is_granted(ticket);

        if (is_granted) {
            note_served_locked(zone, now - rec_of(ticket)->since_usec);
        }
        else {
            zone->gone++;
        }
        if (is_granted && is_abandoned) {
            adm_reap_orphan_locked(segment, zone, rec_of(ticket), now);
        }
        else {
            adm_zone_end_ticket_locked(segment, zone, ticket->idx);
        }
        adm_zone_unlock(segment, zone, now);
    }
    else if (rv != APR_SUCCESS) {
        adm_stuck_leave(ticket,
                        is_abandoned ? ADM_LEFT_ABANDONED : ADM_LEFT_RELEASED,
                        now);
    }
    end_own_ticket(ticket);
}

void adm_ticket_release(adm_ticket_t *ticket, adm_usec_t now)
{
    leave(ticket, now, false);
}

void adm_ticket_abandon(adm_ticket_t *ticket, adm_usec_t now)
{
    leave(ticket, now, true);
}
