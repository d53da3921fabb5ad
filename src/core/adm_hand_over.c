/* adm_hand_over.c - grant free permits, revoke unused grants.
 * Called by adm_zone; by adm_ticket and adm_view to settle grants.
 *
 * A grant is a lease. If its request does not start within the lease, and
 * another ticket can run, the permit is passed on. A request starts without
 * taking the lock; "to settle" is to record afterwards, with the lock, that it
 * has started.
 *
 * All functions except adm_hand_over_wake() need the zone's lock.
 */
#include "adm_doorbell.h"
#include "adm_fault.h"
#include "adm_figures.h"
#include "fair/fair_flow.h"
#include "adm_grant.h"
#include "adm_hand_over.h"
#include "adm_layout.h"
#include "adm_limit.h"
#include "adm_link.h"
#include "adm_pool.h"
#include "fair/fair_ring.h"
#include "fair/fair_search.h"

/* Upper bound of a lease, in multiples of ADM_LEASE_USEC. */
#define LEASES_MAX 10

/* When the new grant's lease expires. Each permit passed on in a row lengthens
 * the next lease, so that permits do not circulate unused while all processes
 * are slow, for example because the machine swaps. */
static adm_usec_t lease_until_locked(const adm_zone_rec_t *zone, adm_usec_t now)
{
    adm_usec_t start = adm_now(); /* much later than @a now in a long round */
    uint32_t row = zone->passed_in_row < LEASES_MAX ? zone->passed_in_row
                                                    : LEASES_MAX - 1;

    return (now > start ? now : start) + ADM_LEASE_USEC * (1 + (adm_usec_t)row);
}

static adm_wake_t wake_of(const adm_segment_t *segment, uint32_t idx)
{
    const adm_ticket_rec_t *ticket = adm_ticket_at(segment, idx);

    return (adm_wake_t){ .ticket_idx = idx,
                         .child_idx = ticket->child_idx,
                         .bell = atomic_load(&ticket->bell) };
}

/* Grant a permit to a waiting ticket, and add the ticket to @a wakes. */
static void grant_ticket_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                                uint32_t idx, adm_usec_t now,
                                adm_wakes_t *wakes)
{
    adm_ticket_rec_t *ticket = adm_ticket_at(segment, idx);
    adm_usec_t first = atomic_load(&zone->lease_until);

    ticket->lease_until_usec = lease_until_locked(zone, now);
    if (fair_flow_is_used(zone)) {
        fair_flow_set_cost_locked(segment, idx, adm_limit_effective(zone));
    }
    atomic_store(&ticket->state, ADM_TICKET_GRANTED); /* T3_grant */
    ADM_FAULT(grant_stored);
    adm_link_remove_locked(adm_queue_of(segment, zone), idx);
    adm_count_locked(&zone->queued, -1);
    adm_count_permit_locked(zone, now);
    fair_flow_follow_locked(segment, zone, idx, FAIR_FLOW_WAITS,
                            FAIR_FLOW_HOLDS);
    adm_link_insert_locked(adm_grants_of(segment, zone), idx);
    if (first == 0 || ticket->lease_until_usec < first) {
        atomic_store(&zone->lease_until, ticket->lease_until_usec);
    }
    wakes->granted[wakes->count++] = wake_of(segment, idx);
}

/* Revoke a grant: the ticket waits again, at its old position in the queue. Has
 * no effect if its request has started in the meantime, and so keeps the
 * permit. */
static void pass_on_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                           uint32_t idx)
{
    adm_ticket_rec_t *ticket = adm_ticket_at(segment, idx);
    unsigned granted = ADM_TICKET_GRANTED;

    /* T14_pass_on */
    if (!atomic_compare_exchange_strong(&ticket->state, &granted,
                                        ADM_TICKET_WAITING)) {
        return;
    }
    ADM_FAULT(pass_stored);
    adm_link_remove_locked(adm_grants_of(segment, zone), idx);
    adm_count_locked(&zone->active, -1);
    adm_link_insert_locked(adm_queue_of(segment, zone), idx);
    adm_count_locked(&zone->queued, 1);
    fair_flow_follow_locked(segment, zone, idx, FAIR_FLOW_HOLDS,
                            FAIR_FLOW_WAITS);
    zone->figures.grants_passed_on++;
    zone->passed_in_row++;
}

void adm_hand_over_settle_ticket_locked(adm_segment_t *segment,
                                        adm_zone_rec_t *zone,
                                        uint32_t ticket_idx)
{
    adm_ticket_rec_t *ticket = adm_ticket_at(segment, ticket_idx);
    adm_usec_t begun = atomic_load(&ticket->begun_usec);

    if (!adm_link_remove_locked(adm_grants_of(segment, zone), ticket_idx)) {
        return; /* already settled, or admitted without waiting */
    }
    ADM_FAULT(grant_settled);
    zone->passed_in_row = 0;
    zone->figures.outcomes[ADM_WAITED]++;
    adm_figures_add_duration(&zone->figures.wait, begun - ticket->since_usec);
    ticket->since_usec = begun;
}

/* Settle each grant whose request has started, and update the zone's first
 * lease. @return the oldest grant that can be revoked; 0: none. */
static uint32_t settle_all_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                                  adm_usec_t now)
{
    uint32_t left = segment->sizes.tickets; /* bounds a cyclic list */
    uint32_t idx = zone->granted_idx, next_idx, due_idx = 0;
    adm_usec_t first = 0;

    for (; idx && left; left--, idx = next_idx) {
        adm_ticket_rec_t *ticket = adm_ticket_at(segment, idx);

        next_idx = ticket ? ticket->next_idx : 0;
        if (ticket && atomic_load(&ticket->state) == ADM_TICKET_ACTIVE) {
            adm_hand_over_settle_ticket_locked(segment, zone, idx);
        }
        else if (ticket && atomic_load(&ticket->state) == ADM_TICKET_GRANTED) {
            if (first == 0 || ticket->lease_until_usec < first) {
                first = ticket->lease_until_usec;
            }
            if (adm_grant_is_due(segment, ticket, now)) {
                due_idx = idx; /* newest first: the oldest wins */
            }
        }
        else {
            /* The list is corrupt. Rebuild it from the tickets, which are
             * authoritative. */
            adm_pool_rebuild_locked(segment, zone);
            return 0;
        }
    }
    if (atomic_load_explicit(&zone->lease_until, memory_order_relaxed)
        != first) {
        atomic_store(&zone->lease_until, first);
    }
    return due_idx;
}

uint32_t adm_hand_over_settle_locked(adm_segment_t *segment,
                                     adm_zone_rec_t *zone, adm_usec_t now)
{
    return zone->granted_idx
                   || atomic_load_explicit(&zone->lease_until,
                                           memory_order_relaxed)
               ? settle_all_locked(segment, zone, now)
               : 0;
}

/* Find the ticket to grant next: by arrival, or in a zone with flows in turn
 * order. Rebuilds corrupt lists from the tickets, which are authoritative. */
static adm_winner_t find_winner_locked(adm_segment_t *segment,
                                       adm_zone_rec_t *zone)
{
    adm_winner_t (*find)(const adm_segment_t *, const adm_zone_rec_t *) =
        fair_flow_is_used(zone) ? fair_search_winner_locked
                                : adm_grant_find_winner_locked;
    adm_winner_t winner = find(segment, zone);

    if (winner.is_broken) {
        adm_pool_rebuild_locked(segment, zone);
        winner = find(segment, zone);
    }
    return winner;
}

/* Whether as many permits are free as the ticket needs. */
static bool has_permits_for(const adm_segment_t *segment,
                            const adm_zone_rec_t *zone, uint32_t ticket_idx)
{
    return fair_flow_is_used(zone)
               ? fair_flow_fits(zone, adm_ask_at(segment, ticket_idx))
               : adm_limit_has_free_permit(zone);
}

/* @return the oldest grant that can be revoked and whose permit another ticket
 * can use; 0: none. Without flows the permits are all alike, so only the oldest
 * grant that can be revoked, @a due_idx, is checked. */
static uint32_t find_loser_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                                  uint32_t due_idx, adm_usec_t now)
{
    if (due_idx == 0) {
        return 0;
    }
    if (fair_flow_is_used(zone)) {
        return fair_search_unused_locked(segment, zone, now);
    }
    /* Mark the child before the search, which would otherwise select it
     * again. */
    adm_grant_mark_child(segment, adm_ticket_at(segment, due_idx));
    ADM_FAULT(pass_marked);
    return find_winner_locked(segment, zone).can_run ? due_idx : 0;
}

/* Grant permits until none is free, no ticket waits, or @a wakes is full. When
 * no permit is free, revoke one unused grant at a time and grant it again. */
static void grant_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                         adm_usec_t now, adm_wakes_t *wakes)
{
    uint32_t due_idx = adm_hand_over_settle_locked(segment, zone, now);

    wakes->count = 0;
    while (zone->head_idx && wakes->count < ADM_WAKES_MAX
           && (due_idx || adm_limit_has_free_permit(zone))) {
        uint32_t idx = find_winner_locked(segment, zone).idx;

        if (idx && has_permits_for(segment, zone, idx)) {
            grant_ticket_locked(segment, zone, idx, now, wakes);
            continue;
        }
        idx = find_loser_locked(segment, zone, due_idx, now);
        if (!idx) {
            return;
        }
        pass_on_locked(segment, zone, idx);
        due_idx = adm_hand_over_settle_locked(segment, zone, now);
    }
}

/* Appoint a guard: the dispatcher of another child, which is woken now so that
 * it checks the grants when their lease expires. (Blocked tickets check by
 * themselves, at the end of each time slice.)
 *
 * If no other child has a parked ticket, `unguarded_idx` asks the next ticket
 * that parks in another child to become the guard. It is stored before the
 * search, so that a ticket that parks at the same moment is either found by the
 * search or reads `unguarded_idx`.
 */
static void appoint_guard_locked(const adm_segment_t *segment,
                                 adm_zone_rec_t *zone, adm_usec_t now,
                                 adm_wakes_t *wakes)
{
    adm_usec_t until = atomic_load(&zone->guarded_until);
    uint32_t guard_idx;

    wakes->guard = (adm_wake_t){ 0 };
    if (zone->head_idx && now < until && until <= now + ADM_LEASE_USEC) {
        return;
    }
    atomic_store(&zone->unguarded_idx, wakes->granted[0].child_idx);
    ADM_FAULT(guard_wanted);
    if (zone->head_idx == 0) {
        return;
    }
    atomic_store(&zone->guarded_until, now + ADM_LEASE_USEC);
    guard_idx = adm_grant_find_guard_locked(segment, zone,
                                            wakes->granted[0].child_idx);
    if (guard_idx) {
        atomic_store(&zone->unguarded_idx, 0);
        wakes->guard = wake_of(segment, guard_idx);
    }
}

void adm_hand_over_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                          adm_usec_t now, adm_wakes_t *wakes)
{
    grant_locked(segment, zone, now, wakes);
    if (wakes->count) {
        appoint_guard_locked(segment, zone, now, wakes);
    }
}

static void wake(adm_segment_t *segment, const adm_wake_t *wake)
{
    if (adm_bell_is_parked(wake->bell)) {
        adm_doorbell_ring_slot(segment, wake->child_idx, wake->bell - 1);
    }
    else {
        adm_wait_wake(
            &adm_ticket_at(segment, wake->ticket_idx)->state); /* W4_wake */
    }
}

void adm_hand_over_wake(adm_segment_t *segment, const adm_wakes_t *wakes)
{
    uint32_t i;

    for (i = 0; i < wakes->count; i++) {
        wake(segment, &wakes->granted[i]);
    }
    if (wakes->guard.child_idx) {
        wake(segment, &wakes->guard);
    }
}
