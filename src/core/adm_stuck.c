/* adm_stuck.c - a zone whose lock cannot be had: somebody was stopped with it.
 *
 * Nobody waits for it for ever. Who wants a permit runs without one; who has a
 * ticket leaves it to whoever locks the zone next.
 */
#include "adm_fault.h"
#include "adm_layout.h"

/* ---- the lock ------------------------------------------------------------------ */

/* For how long the lock has been out of reach, as far as anybody tried. */
static adm_usec_t busy_for(const adm_zone_rec_t *zone, adm_usec_t now)
{
    int64_t since = atomic_load(&zone->stuck_since);

    return since > 0 && since < now ? now - since : 0;
}

adm_lock_result_t adm_stuck_acquire(adm_zone_rec_t *zone, adm_usec_t patience)
{
    adm_usec_t now = adm_now();
    adm_usec_t left = ADM_LOCK_LONG_USEC - busy_for(zone, now);
    adm_lock_result_t result;
    int64_t never = 0;

    if (left < ADM_LOCK_BRIEF_USEC) {
        left = ADM_LOCK_BRIEF_USEC;
    }
    result = adm_lock_acquire(&zone->lock,
                              now + (left < patience ? left : patience));
    if (result == ADM_LOCK_BUSY && !adm_lock_is_held_here()) {
        atomic_compare_exchange_strong(&zone->stuck_since, &never, now);
    }
    return result;
}

bool adm_ticket_seems_stuck(const adm_ticket_t *ticket, adm_usec_t now)
{
    const adm_zone_rec_t *zone = adm_zone_at(ticket->child->segment,
                                             ticket->zone_idx);

    return busy_for(zone, now) >= ADM_LOCK_LONG_USEC;
}

bool adm_ticket_is_stuck(const adm_ticket_t *ticket, adm_usec_t now)
{
    adm_segment_t *segment = ticket->child->segment;
    adm_zone_rec_t *zone;
    apr_status_t rv;

    if (!adm_ticket_seems_stuck(ticket, now)) {
        return false;
    }
    /* Or nobody has tried since. */
    zone = adm_zone_lock_for(segment, ticket->zone_idx, ADM_LOCK_BRIEF_USEC,
                             &rv);
    if (zone) {
        adm_zone_unlock(segment, zone, now);
    }
    return rv == ADM_ZONE_BUSY && !adm_ticket_is_granted(ticket);
}

/* ---- tickets that are left ------------------------------------------------------ */

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
        adm_reap_orphan_locked(segment, zone, ticket, now);
        return;
    }
    if (how <= ADM_REASON_STOPPING) {
        adm_zone_count_reason_locked(zone, (adm_reason_t)how);
    }
    adm_zone_end_ticket_locked(segment, zone, ticket_idx);
}

void adm_stuck_end_left_locked(adm_segment_t *segment, adm_zone_rec_t *zone)
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

void adm_stuck_leave(adm_ticket_t *ticket, uint32_t how, adm_usec_t now)
{
    adm_segment_t *segment = ticket->child->segment;
    adm_zone_rec_t *zone = adm_zone_at(segment, ticket->zone_idx);
    adm_ticket_rec_t *rec = adm_ticket_at(segment, ticket->idx);
    apr_status_t rv;

    if (!zone || !rec) {
        return;
    }
    /* T11_leave_noted. The ticket first: `has_left` alone is found by others,
     * and by nobody else if this child is killed in between: it is reaped. */
    atomic_store(&rec->bell, ADM_BELL_LEFT | how);
    ADM_FAULT(left_noted);
    atomic_store(&zone->has_left, 1);
    /* Whoever had the lock may have been looking already, and may be the last
     * one for long. */
    zone = adm_zone_lock_for(segment, ticket->zone_idx, 0, &rv);
    if (zone) {
        adm_zone_unlock(segment, zone, now);
    }
}
