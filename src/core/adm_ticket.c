/* adm_ticket.c - a request's ticket after it has entered: wait, start, leave.
 * Called by the module.
 *
 * Two steps need no lock: starting a granted ticket (T13), and leaving while
 * the zone's lock is out of reach (T11).
 */
#include "adm_account.h"
#include "adm_agent.h"
#include "adm_child.h"
#include "adm_doorbell.h"
#include "adm_expect.h"
#include "adm_fault.h"
#include "adm_figures.h"
#include "fair/fair_flow.h"
#include "adm_hand_over.h"
#include "adm_layout.h"
#include "adm_limit.h"
#include "adm_program.h"
#include "adm_worker.h"
#include "adm_zone.h"

/* ---- wait ----------------------------------------------------------------- */

static adm_zone_rec_t *zone_of(const adm_ticket_t *ticket)
{
    return adm_zone_at(ticket->child->segment, ticket->zone_idx);
}

bool adm_ticket_is_granted(const adm_ticket_t *ticket)
{
    unsigned state = atomic_load(&adm_ticket_rec(ticket)->state);

    return state == ADM_TICKET_GRANTED || state == ADM_TICKET_ACTIVE;
}

bool adm_ticket_holds(const adm_ticket_t *ticket)
{
    return atomic_load(&ticket->held) && adm_program_is_of(ticket);
}

/* Start a granted ticket: swap GRANTED for ACTIVE. A process that passes the
 * permit on swaps the same word, so only one of the two succeeds. @return
 * whether the ticket holds a permit that it can no longer lose. */
static bool start_granted(adm_ticket_rec_t *rec, adm_usec_t now)
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
    return false; /* passed on in the meantime */
}

bool adm_ticket_begin(adm_ticket_t *ticket, adm_usec_t now)
{
    adm_child_t *child = ticket->child;
    adm_zone_t zone = { .idx = ticket->zone_idx };
    adm_ticket_rec_t *rec = adm_ticket_rec(ticket);

    adm_child_note_alive(child);
    if (atomic_load(&rec->state) == ADM_TICKET_WAITING) {
        /* An unused permit can be passed on to this ticket. */
        adm_lease_check(child, zone, now);
    }
    if (!start_granted(rec, now)) {
        return false;
    }
    /* W2_slice_sees_grant, if no wake-up came */
    adm_worker_end_blocking(ticket);
    return true;
}

/* If at most this many tickets wait, each also wakes when the zone's first
 * lease expires. If more wait, one of them wakes soon in any case, and they
 * must not all wake together. */
#define FEW_WAITERS 8

/* The slice grows by ADM_WAIT_SLICE_USEC per this many waiting tickets of the
 * zone. */
#define WAITERS_PER_SLICE 64

/* @return the length of the queue, including this ticket. */
static unsigned queued_with(const adm_ticket_t *ticket)
{
    return atomic_load_explicit(&zone_of(ticket)->queued, memory_order_relaxed);
}

adm_usec_t adm_ticket_slice(const adm_ticket_t *ticket)
{
    unsigned slices = 1 + queued_with(ticket) / WAITERS_PER_SLICE;

    return ADM_WAIT_SLICE_USEC
           * (slices < ADM_WAIT_SLICES_MAX ? slices : ADM_WAIT_SLICES_MAX);
}

/* When to wake at the latest. No wake-up reports that the child stops, that a
 * permit is unused, or a grant if the granting process was killed before its
 * wake-up: the waiter checks for these after each slice. */
static adm_usec_t end_of_slice(const adm_ticket_t *ticket, adm_usec_t now,
                               adm_usec_t until)
{
    adm_usec_t lease = atomic_load(&zone_of(ticket)->lease_until);
    adm_usec_t slice = now + adm_ticket_slice(ticket);

    if (lease > now && lease < slice && queued_with(ticket) <= FEW_WAITERS) {
        slice = lease;
    }
    return slice < until ? slice : until;
}

/* Only corrupt shared memory makes a waiting ticket FREE or ORPHANED. */
static bool is_overwritten(const adm_ticket_rec_t *rec)
{
    unsigned state = atomic_load(&rec->state);

    return state == ADM_TICKET_FREE || state == ADM_TICKET_ORPHANED;
}

/* Whether no process could get the zone's lock for ADM_LOCK_STUCK_USEC, as far
 * as recorded: a process was probably stopped while it held the lock. */
static bool seems_stuck(const adm_ticket_t *ticket, adm_usec_t now)
{
    return adm_zone_stuck_for(zone_of(ticket), now) >= ADM_LOCK_STUCK_USEC;
}

/* Whether the ticket waits for a share of a limit across servers, and this
 * server has got none in the time for its first lease. */
static bool is_cut_off(const adm_ticket_t *ticket)
{
    return adm_limit_has_no_lease_yet(zone_of(ticket))
           && atomic_load(&adm_ticket_rec(ticket)->state) == ADM_TICKET_WAITING;
}

/* seems_stuck(), confirmed by a brief attempt to lock; false if the ticket was
 * granted in the meantime. */
static bool check_stuck(adm_ticket_t *ticket, adm_usec_t now)
{
    adm_segment_t *segment = ticket->child->segment;
    adm_zone_rec_t *zone;

    if (!seems_stuck(ticket, now)) {
        return false;
    }
    /* The lock might be free again, with no process having tried it since. */
    zone = adm_zone_lock_for(segment, ticket->zone_idx, ADM_LOCK_BRIEF_USEC,
                             &ticket->fault);
    if (zone) {
        adm_zone_unlock(segment, zone, now);
    }
    return ticket->fault == ADM_ZONE_BUSY && !adm_ticket_is_granted(ticket);
}

bool adm_ticket_seems_over(const adm_ticket_t *ticket, adm_usec_t now)
{
    return adm_ticket_is_granted(ticket)
           || is_overwritten(adm_ticket_rec(ticket)) || seems_stuck(ticket, now)
           || is_cut_off(ticket);
}

adm_outcome_t adm_ticket_outcome(adm_ticket_t *ticket, adm_usec_t deadline,
                                 adm_usec_t now)
{
    /* Stopping takes precedence over a grant. Programs that are killed now free
     * many permits together, but a request that starts with one would fail:
     * what it needs, such as mod_cgid's daemon, is shutting down. */
    if (adm_child_is_stopping(ticket->child)) {
        return ADM_STOPPED;
    }
    if (adm_ticket_begin(ticket, now)) {
        return ADM_WAITED;
    }
    if (is_overwritten(adm_ticket_rec(ticket))) {
        ticket->fault = ADM_BAD_SEGMENT;
        return ADM_UNLIMITED;
    }
    if (check_stuck(ticket, now)) {
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
    adm_wait_sleep(&adm_ticket_rec(ticket)->state, ADM_TICKET_WAITING,
                   end_of_slice(ticket, adm_now(), until));
}

/* Whether this child becomes the guard of another child's grant that has none:
 * its dispatcher then checks when the lease expires (adm_hand_over.c). */
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

    adm_worker_give_back(ticket);
    ticket->is_parked = true;
    atomic_fetch_add(&child->rec->parked, 1);
    atomic_store(&adm_ticket_rec(ticket)->bell, slot + 1);
    /* Another process might have granted the permit, or searched for a guard,
     * before the bell was stored, and so has not rung it. */
    if (adm_ticket_is_granted(ticket)
        || becomes_guard(child, zone_of(ticket))) {
        adm_doorbell_ring_slot(child->segment, child->idx, slot);
    }
}

static void end_parking(adm_ticket_t *ticket)
{
    if (ticket->is_parked) {
        ticket->is_parked = false;
        atomic_store(&adm_ticket_rec(ticket)->bell, 0);
        atomic_fetch_sub(&ticket->child->rec->parked, 1);
    }
}

void adm_ticket_unpark(adm_ticket_t *ticket)
{
    end_parking(ticket);
    adm_child_note_room(ticket->child, true); /* the calling worker was idle */
    adm_worker_note_lacking(ticket->child,
                            0); /* the dispatcher repeats it if need be */
    /* Exceed the cap rather than waste a permit. Usually the process that
     * handed the permit over has returned a worker, or is about to. The cap is
     * exceeded by one if another request takes that worker first, or if several
     * requests shared it. */
    adm_worker_take_for(ticket, true);
}

/* ---- leave ---------------------------------------------------------------- */

/* Lock the zone, if the ticket still belongs to this child. @return NULL with
 * APR_SUCCESS in @a rv if it does not: its permit has moved to another request
 * (adm_successor.c). */
static adm_zone_rec_t *lock_own_zone(adm_ticket_t *ticket, adm_usec_t now,
                                     apr_status_t *rv)
{
    adm_segment_t *segment = ticket->child->segment;
    adm_ticket_rec_t *rec = adm_ticket_rec(ticket);
    adm_zone_rec_t *zone = adm_zone_lock(segment, ticket->zone_idx, rv);

    if (zone
        && (rec->child_idx != ticket->child->idx
            || rec->arrival != ticket->arrival)) {
        adm_zone_unlock(segment, zone, now);
        zone = NULL;
    }
    return zone;
}

/* Record in the ticket's `bell` how its request left. If the owner of the lock
 * is just moving the permit on, the arrival in the note matches no ticket.
 * @return false if the permit is seen to have moved. */
static bool note_left(const adm_ticket_t *ticket, uint32_t how)
{
    adm_ticket_rec_t *rec = adm_ticket_rec(ticket);
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

/* Leave without the zone's lock, which a stopped process holds: the next owner
 * of the lock ends the ticket. Does nothing if the permit has moved. */
static void leave_stuck(adm_ticket_t *ticket, uint32_t how, adm_usec_t now)
{
    adm_segment_t *segment = ticket->child->segment;
    adm_zone_rec_t *zone;
    apr_status_t rv;

    /* The ticket first: the next owner of the lock clears `has_left` before it
     * reads the notes. A child killed in between leaves a ticket to be
     * reaped. */
    if (!note_left(ticket, how)) {
        return;
    }
    ADM_FAULT(left_noted);
    atomic_store(&zone_of(ticket)->has_left, 1);
    /* The current owner of the lock might have checked `has_left` already, and
     * the next one might not come for long. */
    zone = adm_zone_lock_for(segment, ticket->zone_idx, 0, &rv);
    if (zone) {
        adm_zone_unlock(segment, zone, now);
    }
    else {
        adm_agent_wake(segment);
    }
}

/* Update this child's counts, then unlock the zone, or let its next owner end
 * the ticket. The unlock hands the permit over and can take long: other
 * processes would count this worker in addition to the workers of the requests
 * that run next.
 *
 * @param zone   NULL: not locked, for the reason @a rv, as of lock_own_zone()
 * @param noted  how the request leaves, for the next owner of the lock
 */
static void end_leaving(adm_ticket_t *ticket, bool keeps_worker,
                        adm_zone_rec_t *zone, apr_status_t rv, uint32_t noted,
                        adm_usec_t now)
{
    adm_worker_end_blocking(ticket);
    if (!keeps_worker) {
        adm_worker_give_back(ticket);
    }
    if (zone) {
        adm_zone_unlock(ticket->child->segment, zone, now);
    }
    else if (rv != APR_SUCCESS) {
        leave_stuck(ticket, noted, now);
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
    /* Unless its permit has moved, start the request if it was granted. */
    if ((zone || rv != APR_SUCCESS)
        && adm_outcome_action(outcome) != ADM_DROP_CONNECTION
        && start_granted(adm_ticket_rec(ticket), now)) {
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
    }
    end_leaving(ticket, false, zone, rv, outcome, now);
    atomic_store(&ticket->held, 0);
    return outcome;
}

/* Reject a ticket that cannot block. If it was granted a permit in the
 * meantime, it runs on its thread. */
static adm_outcome_t reject_blocked(adm_ticket_t *ticket, adm_usec_t now)
{
    if (adm_ticket_cancel(ticket, ADM_PARKING, now) == ADM_WAITED) {
        adm_worker_take_for(ticket, true);
        return ADM_WAITING;
    }
    return ADM_PARKING;
}

adm_outcome_t adm_ticket_block(adm_ticket_t *ticket, adm_usec_t now)
{
    adm_worker_check_room(ticket);
    if (!adm_worker_take_for(ticket, false)
        || adm_worker_begin_blocking(ticket) != ADM_WAITING) {
        return reject_blocked(ticket, now);
    }
    return ADM_WAITING;
}

/* Record what the program used. Called before the lock is taken: makes a system
 * call. */
static void record_usage(const adm_ticket_t *ticket)
{
    uint64_t program = adm_program_known(adm_ticket_rec(ticket));
    pid_t pid = (pid_t)adm_program_pid(program);
    adm_proc_usage_t usage;

    if (program == adm_program_word(ticket->arrival, (uint32_t)pid)
        && adm_proc_final_usage(pid, &usage)) {
        adm_account_note(ticket->child->segment, ticket->idx, program, &usage);
    }
}

/* @return whether the permit stays with the program. */
static bool end_locked(const adm_ticket_t *ticket, adm_zone_rec_t *zone,
                       bool is_abandoned, adm_usec_t now)
{
    adm_segment_t *segment = ticket->child->segment;
    bool is_granted = start_granted(adm_ticket_rec(ticket), now);

    if (is_granted) {
        if (zone->granted_idx) {
            adm_hand_over_settle_ticket_locked(segment, zone, ticket->idx);
        }
        adm_figures_note_served(&zone->figures,
                                now - adm_ticket_rec(ticket)->since_usec,
                                fair_flow_cost(segment, zone, ticket->idx));
    }
    else {
        zone->figures.outcomes[ADM_GONE]++;
    }
    if (is_granted && is_abandoned) {
        adm_zone_orphan_ticket_locked(segment, zone, ticket->idx, now);
        return true;
    }
    adm_zone_end_ticket_locked(segment, zone, ticket->idx);
    return false;
}

/* End the calling request's ticket. Its permit is released, or stays with its
 * program. */
static void leave(adm_ticket_t *ticket, bool is_abandoned, bool keeps_worker,
                  adm_usec_t now)
{
    bool has_orphan = false;
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
        atomic_fetch_or(&adm_ticket_rec(ticket)->programs,
                        ADM_PROGRAMS_ABANDONED);
    }
    record_usage(ticket);
    zone = lock_own_zone(ticket, now, &rv);
    if (zone) {
        has_orphan = end_locked(ticket, zone, is_abandoned, now);
    }
    end_leaving(ticket, keeps_worker, zone, rv,
                is_abandoned ? ADM_LEFT_ABANDONED : ADM_LEFT_RELEASED, now);
    if (has_orphan) {
        adm_agent_wake(segment); /* polls for the program's end */
    }
}

void adm_ticket_release(adm_ticket_t *ticket, adm_usec_t now)
{
    leave(ticket, false, false, now);
}

void adm_ticket_abandon(adm_ticket_t *ticket, bool keeps_worker, adm_usec_t now)
{
    leave(ticket, true, keeps_worker, now);
}

void adm_ticket_release_permit(adm_ticket_t *ticket, adm_usec_t now)
{
    leave(ticket, false, true, now);
}

void adm_ticket_take_worker(adm_ticket_t *ticket)
{
    adm_worker_take_for(ticket, true);
}

void adm_ticket_return_worker(adm_ticket_t *ticket)
{
    if (ticket->child && adm_child_is_self(ticket->child)) {
        adm_worker_give_back(ticket);
    }
}

bool adm_ticket_is_in_use(const adm_ticket_t *ticket)
{
    return atomic_load(&ticket->held) || ticket->has_worker;
}
