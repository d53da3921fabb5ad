/* adm_ticket.c - one request after it has entered: wait, leave.
 * Called by the module.
 */
#include "adm_account.h"
#include "adm_agent.h"
#include "adm_child.h"
#include "adm_doorbell.h"
#include "adm_expect.h"
#include "adm_fault.h"
#include "adm_figures.h"
#include "fleet/fleet_shm.h"
#include "fair/fair_flow.h"
#include "adm_hand_over.h"
#include "adm_layout.h"
#include "adm_limit.h"
#include "adm_program.h"
#include "adm_stuck.h"
#include "adm_wait.h"
#include "adm_worker.h"
#include "adm_zone.h"

/* ---- wait ----------------------------------------------------------------- */

static adm_ticket_rec_t *rec_of(const adm_ticket_t *ticket)
{
    return adm_ticket_at(ticket->child->segment, ticket->idx);
}

bool adm_ticket_is_granted(const adm_ticket_t *ticket)
{
    unsigned state = atomic_load(&rec_of(ticket)->state);

    return state == ADM_TICKET_GRANTED || state == ADM_TICKET_ACTIVE;
}

bool adm_ticket_holds(const adm_ticket_t *ticket)
{
    return atomic_load(&ticket->held) && adm_program_is_of(ticket);
}

/* The winner's own step, without the lock: whoever passes the permit on compares
 * as well. @return whether the ticket holds a permit that stays with it. */
static bool begin(adm_ticket_rec_t *rec, adm_usec_t now)
{
    unsigned granted = atomic_load(&rec->state);

    if (granted != ADM_TICKET_GRANTED) {
        return granted == ADM_TICKET_ACTIVE;
    }
    atomic_store(&rec->begun_usec, now);
    /* T13_begin */
    if (atomic_compare_exchange_strong(&rec->state, &granted,
                                       ADM_TICKET_ACTIVE)) {
        ADM_FAULT(begin_stored);
        return true;
    }
    return false; /* passed on just now */
}

bool adm_ticket_begin(adm_ticket_t *ticket, adm_usec_t now)
{
    adm_child_t *child = ticket->child;
    adm_zone_t zone = { .idx = ticket->zone_idx };
    adm_ticket_rec_t *rec = rec_of(ticket);

    adm_child_note_alive(child);
    if (atomic_load(&rec->state) == ADM_TICKET_WAITING) {
        adm_lease_look(child, zone, now); /* another's may be for this one */
    }
    if (!begin(rec, now)) {
        return false;
    }
    /* W2_slice_sees_grant, if no wake-up came */
    adm_worker_end_blocking(ticket);
    return true;
}

/* Of so few waiters each looks at the end of a lease. Of more somebody looks soon in
 * any case: their slices do not end together, and must not. */
#define FEW_WAITERS 8

/* One slice more for so many waiters of the zone. */
#define WAITERS_A_SLICE 64

static unsigned queued_with(const adm_ticket_t *ticket)
{
    const adm_zone_rec_t *zone = adm_zone_at(ticket->child->segment,
                                             ticket->zone_idx);

    return zone ? atomic_load_explicit(&zone->queued, memory_order_relaxed) : 0;
}

adm_usec_t adm_ticket_slice(const adm_ticket_t *ticket)
{
    unsigned slices = 1 + queued_with(ticket) / WAITERS_A_SLICE;

    return ADM_WAIT_SLICE_USEC
           * (slices < ADM_WAIT_SLICES_MAX ? slices : ADM_WAIT_SLICES_MAX);
}

/* A slice only: nobody wakes a child that is to stop, nor the waiter whose
 * granter was killed, nor one who could have a permit that is not used. */
static adm_usec_t end_of_slice(const adm_ticket_t *ticket, adm_usec_t now,
                               adm_usec_t until)
{
    const adm_zone_rec_t *zone = adm_zone_at(ticket->child->segment,
                                             ticket->zone_idx);
    adm_usec_t lease = zone ? atomic_load(&zone->lease_until) : 0;
    adm_usec_t slice = now + adm_ticket_slice(ticket);

    if (lease > now && lease < slice && queued_with(ticket) <= FEW_WAITERS) {
        slice = lease;
    }
    return slice < until ? slice : until;
}

/* Only a torn segment can bring that about. */
static bool is_taken_away(const adm_ticket_rec_t *rec)
{
    unsigned state = atomic_load(&rec->state);

    return state == ADM_TICKET_FREE || state == ADM_TICKET_ORPHANED;
}

/* The lock of its zone seems to be held by a process that is stopped. */
static bool seems_stuck(const adm_ticket_t *ticket, adm_usec_t now)
{
    const adm_zone_rec_t *zone = adm_zone_at(ticket->child->segment,
                                             ticket->zone_idx);

    return adm_stuck_busy_for(zone, now) >= ADM_LOCK_LONG_USEC;
}

/* Waits for a share of a limit across servers that this server cannot get: the engine
 * has never answered, and the first lease is over. */
static bool is_cut_off(const adm_ticket_t *ticket)
{
    const adm_segment_t *segment = ticket->child->segment;
    adm_zone_t zone = { .idx = ticket->zone_idx };
    const adm_zone_rec_t *rec = adm_zone_at(segment, zone.idx);

    return rec && adm_limit_is_cut_off(rec)
           && !adm_fleet_was_answered(segment, zone)
           && atomic_load(&rec_of(ticket)->state) == ADM_TICKET_WAITING;
}

/* The lock of its zone has been out of reach for ADM_LOCK_LONG_USEC, and is so now. */
static bool is_stuck(adm_ticket_t *ticket, adm_usec_t now)
{
    adm_segment_t *segment = ticket->child->segment;
    adm_zone_rec_t *zone;

    if (!seems_stuck(ticket, now)) {
        return false;
    }
    /* Or nobody has tried since. */
    zone = adm_zone_lock_for(segment, ticket->zone_idx, ADM_LOCK_BRIEF_USEC,
                             &ticket->fault);
    if (zone) {
        adm_zone_unlock(segment, zone, now);
    }
    return ticket->fault == ADM_ZONE_BUSY && !adm_ticket_is_granted(ticket);
}

bool adm_ticket_seems_over(const adm_ticket_t *ticket, adm_usec_t now)
{
    return adm_ticket_is_granted(ticket) || is_taken_away(rec_of(ticket))
           || seems_stuck(ticket, now) || is_cut_off(ticket);
}

adm_outcome_t adm_ticket_outcome(adm_ticket_t *ticket, adm_usec_t deadline,
                                 adm_usec_t now)
{
    /* Also at the grant: what the request would need, such as mod_cgid's daemon, is
     * ending, and all permits are released together, as their programs are killed. */
    if (adm_child_is_stopping(ticket->child)) {
        return ADM_STOPPED;
    }
    if (adm_ticket_begin(ticket, now)) {
        return ADM_WAITED;
    }
    if (is_taken_away(rec_of(ticket))) {
        ticket->fault = ADM_BAD_SEGMENT;
        return ADM_UNLIMITED;
    }
    if (is_stuck(ticket, now)) {
        return ADM_UNLIMITED;
    }
    if (is_cut_off(ticket)) {
        return ADM_FLEET;
    }
    return now >= deadline ? ADM_TIMEOUT : ADM_WAITING;
}

void adm_ticket_sleep(const adm_ticket_t *ticket, adm_usec_t until)
{
    ADM_FAULT(wait_sleeping);
    /* W1_sleep */
    adm_wait_sleep(&rec_of(ticket)->state, ADM_TICKET_WAITING,
                   end_of_slice(ticket, adm_now(), until));
}

/* Of the zone's grants: of one that went to another child. */
static bool becomes_guard(const adm_child_t *child, adm_zone_rec_t *zone)
{
    unsigned unguarded = atomic_load(&zone->unguarded_idx);

    return unguarded && unguarded != child->idx
           && atomic_compare_exchange_strong(&zone->unguarded_idx, &unguarded,
                                             0);
}

void adm_ticket_park(adm_ticket_t *ticket, uint32_t slot)
{
    adm_child_t *child = ticket->child;
    adm_zone_rec_t *zone = adm_zone_at(child->segment, ticket->zone_idx);

    adm_worker_give_back(ticket);
    ticket->is_parked = true;
    atomic_fetch_add(&child->rec->parked, 1);
    atomic_store(&rec_of(ticket)->bell, slot + 1);
    /* Whoever granted before it could see the bell did not ring it; nor did who
     * looked for a guard. */
    if (adm_ticket_is_granted(ticket) || becomes_guard(child, zone)) {
        adm_doorbell_ring_slot(child->segment, child->idx, slot);
    }
}

static void end_parking(adm_ticket_t *ticket)
{
    if (ticket->is_parked) {
        ticket->is_parked = false;
        atomic_store(&rec_of(ticket)->bell, 0);
        atomic_fetch_sub(&ticket->child->rec->parked, 1);
    }
}

void adm_ticket_unpark(adm_ticket_t *ticket)
{
    end_parking(ticket);
    adm_child_note_room(ticket->child, true); /* a worker came for it */
    adm_worker_lack(ticket->child, 0);        /* or the dispatcher says again */
    /* A permit without a worker would be wasted: mostly whoever handed it over
     * has left one, or is about to. If somebody else was faster, or it was one of
     * several that share a worker, one more is held than the cap says. */
    adm_worker_force(ticket);
}

/* ---- leave ---------------------------------------------------------------- */

/* Lock the zone of a ticket that is this child's. NULL with APR_SUCCESS if it
 * is not: its permit has moved on (adm_inherit.c). */
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

typedef enum leave_t { LEAVE, LEAVE_BUT_WORKER, LEAVE_TO_PROGRAM } leave_t;

/* Before the zone is unlocked, which hands the permit over and wakes somebody:
 * it may take long to come back from there, and others would see this worker
 * held beside those who run already. */
static void end_own_ticket(adm_ticket_t *ticket, leave_t how)
{
    adm_worker_end_blocking(ticket);
    if (how != LEAVE_BUT_WORKER) {
        adm_worker_give_back(ticket);
    }
}

/* Say in the ticket how it was left. Whoever has the lock may just be moving the
 * permit on: then the note means nobody. @return false if that is seen. */
static bool note_left(const adm_ticket_t *ticket, uint32_t how)
{
    adm_ticket_rec_t *rec = rec_of(ticket);
    uint32_t note = adm_bell_left(ticket->arrival, how);
    uint32_t bell;

    do {
        bell = atomic_load(&rec->bell);
        if (rec->arrival != ticket->arrival) {
            return false;
        }
        /* T11_leave_noted */
    } while (!atomic_compare_exchange_strong(&rec->bell, &bell, note));
    return true;
}

static void leave_stuck(adm_ticket_t *ticket, uint32_t how, adm_usec_t now)
{
    adm_segment_t *segment = ticket->child->segment;
    adm_zone_rec_t *zone = adm_zone_at(segment, ticket->zone_idx);
    apr_status_t rv;

    /* The ticket first: `has_left` alone is found by others, and by nobody else
     * if this child is killed in between: it is reaped. */
    if (!zone || !rec_of(ticket) || !note_left(ticket, how)) {
        return;
    }
    ADM_FAULT(left_noted);
    atomic_store(&zone->has_left, 1);
    /* Whoever had the lock may have been looking already, and may be the last
     * one for long. */
    zone = adm_zone_lock_for(segment, ticket->zone_idx, 0, &rv);
    if (zone) {
        adm_zone_unlock(segment, zone, now);
    }
    else {
        adm_agent_wake(segment);
    }
}

adm_outcome_t adm_ticket_cancel(adm_ticket_t *ticket, adm_outcome_t outcome,
                                adm_usec_t now)
{
    adm_zone_rec_t *zone;
    apr_status_t rv;

    if (!adm_child_is_self(ticket->child) || !atomic_load(&ticket->held)) {
        return outcome;
    }
    end_parking(ticket);
    zone = lock_own_zone(ticket, now, &rv);
    if ((zone || rv != APR_SUCCESS)
        && adm_outcome_action(outcome) != ADM_HANG_UP
        && begin(rec_of(ticket), now)) {
        if (zone) {
            adm_zone_unlock(ticket->child->segment, zone, now);
        }
        adm_worker_end_blocking(ticket);
        return ADM_WAITED;
    }
    if (zone) {
        ticket->drain_usec = adm_expect_drain_locked(ticket->child->segment,
                                                     zone,
                                                     atomic_load(&zone->queued),
                                                     now);
        adm_zone_cancel_ticket_locked(ticket->child->segment, zone, ticket->idx,
                                      outcome);
        end_own_ticket(ticket, LEAVE);
        adm_zone_unlock(ticket->child->segment, zone, now);
    }
    else {
        if (rv != APR_SUCCESS) {
            leave_stuck(ticket, outcome, now);
        }
        end_own_ticket(ticket, LEAVE);
    }
    atomic_store(&ticket->held, 0);
    return outcome;
}

/* Who was granted at the last moment runs on the thread that it has. */
static adm_outcome_t turn_away(adm_ticket_t *ticket, adm_usec_t now)
{
    if (adm_ticket_cancel(ticket, ADM_PARKING, now) == ADM_WAITED) {
        adm_worker_force(ticket);
        return ADM_WAITING;
    }
    return ADM_PARKING;
}

adm_outcome_t adm_ticket_block(adm_ticket_t *ticket, adm_usec_t now)
{
    if (ticket->uses_worker && !ticket->has_worker) {
        if (!adm_worker_take(ticket->child, false)) {
            return turn_away(ticket, now);
        }
        ticket->has_worker = true;
    }
    adm_worker_look_for_room(ticket);
    if (adm_worker_begin_blocking(ticket) != ADM_WAITING) {
        return turn_away(ticket, now);
    }
    adm_worker_settle(ticket);
    return ADM_WAITING;
}

/* Before the lock is taken: it makes a system call. */
static void note_what_it_took(const adm_ticket_t *ticket)
{
    const adm_ticket_rec_t *rec = rec_of(ticket);
    uint64_t program = atomic_load(&rec->program);
    adm_proc_took_t usage;

    if (atomic_load(&rec->programs) > 0
        && adm_program_took(program, ticket->arrival, &usage)) {
        adm_account_note(ticket->child->segment, ticket->idx, program, &usage);
    }
}

/* End one's own ticket: its permit is free, or stays with its program. */
static void leave(adm_ticket_t *ticket, adm_usec_t now, leave_t how)
{
    bool is_abandoned = how == LEAVE_TO_PROGRAM;
    adm_segment_t *segment;
    adm_zone_rec_t *zone;
    apr_status_t rv;

    if (!atomic_load(&ticket->held) || !adm_child_is_self(ticket->child)
        || !atomic_exchange(&ticket->held, 0)) {
        return;
    }
    segment = ticket->child->segment;
    end_parking(ticket);
    if (is_abandoned) {
        atomic_fetch_or(&rec_of(ticket)->programs, ADM_PROGRAMS_ABANDONED);
    }
    note_what_it_took(ticket);
    zone = lock_own_zone(ticket, now, &rv);
    if (zone) {
        bool is_granted = begin(rec_of(ticket), now);

        if (is_granted) {
            if (zone->granted_idx) {
                adm_hand_over_settle_ticket_locked(segment, zone, ticket->idx);
            }
            adm_figures_note_served(&zone->figures,
                                    now - rec_of(ticket)->since_usec,
                                    adm_flow_cost(segment, zone, ticket->idx));
        }
        else {
            zone->figures.outcomes[ADM_GONE]++;
        }
        if (is_granted && is_abandoned) {
            adm_zone_orphan_ticket_locked(segment, zone, ticket->idx, now);
        }
        else {
            adm_zone_end_ticket_locked(segment, zone, ticket->idx);
        }
        end_own_ticket(ticket, how);
        adm_zone_unlock(segment, zone, now);
        if (is_granted && is_abandoned) {
            adm_agent_wake(segment); /* it looks when the program ends */
        }
    }
    else {
        if (rv != APR_SUCCESS) {
            leave_stuck(ticket,
                        is_abandoned ? ADM_LEFT_ABANDONED : ADM_LEFT_RELEASED,
                        now);
        }
        end_own_ticket(ticket, how);
    }
}

void adm_ticket_release(adm_ticket_t *ticket, adm_usec_t now)
{
    leave(ticket, now, LEAVE);
}

void adm_ticket_abandon(adm_ticket_t *ticket, adm_usec_t now)
{
    leave(ticket, now, LEAVE_TO_PROGRAM);
}

void adm_ticket_release_permit(adm_ticket_t *ticket, adm_usec_t now)
{
    leave(ticket, now, LEAVE_BUT_WORKER);
}

void adm_ticket_return_worker(adm_ticket_t *ticket)
{
    if (!atomic_load(&ticket->held) && ticket->child
        && adm_child_is_self(ticket->child)) {
        adm_worker_give_back(ticket);
    }
}

bool adm_ticket_is_in_use(const adm_ticket_t *ticket)
{
    return atomic_load(&ticket->held) || ticket->has_worker;
}
