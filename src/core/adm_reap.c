/* adm_reap.c - take back what the dead held.
 * Called by adm_round.
 *
 * Any number of children may do this at once, and each may be killed at it:
 * every step is done under the lock of one zone and says of itself in the
 * tickets that it is done.
 */
#include "adm_child.h"
#include "adm_fault.h"
#include "adm_layout.h"
#include "adm_program.h"
#include "adm_reap.h"
#include "adm_zone.h"

/* ---- one look at all zones ------------------------------------------------ */

/* Who merely is at work there is waited for; but only once in vain. */
static adm_zone_rec_t *lock_in_round(adm_reap_round_t *round, uint32_t zone_idx)
{
    adm_usec_t patience = round->is_incomplete ? 0 : ADM_LOCK_BRIEF_USEC;
    apr_status_t rv;
    adm_zone_rec_t *zone = adm_zone_lock_for(round->segment, zone_idx, patience,
                                             &rv);

    if (rv == ADM_ZONE_BUSY) {
        round->is_incomplete = true;
    }
    return zone;
}

/* Whoever locks a zone is told if its last owner died, and whoever unlocks it
 * hands out: a limit may have been raised. */
void adm_reap_visit_zones(adm_reap_round_t *round,
                          bool (*is_wanted)(const adm_zone_rec_t *))
{
    adm_segment_t *segment = round->segment;
    uint32_t used = adm_zones_used(segment);
    uint32_t idx;

    for (idx = 1; idx <= used; idx++) {
        adm_zone_rec_t *zone = adm_zone_at(segment, idx);

        if (!is_wanted || is_wanted(zone)) {
            zone = lock_in_round(round, idx);
            if (zone) {
                adm_zone_unlock(segment, zone, round->now);
            }
        }
    }
}

/* ---- dead children -------------------------------------------------------- */

static void reap_ticket_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                               uint32_t ticket_idx, adm_usec_t now)
{
    adm_ticket_rec_t *ticket = adm_ticket_at(segment, ticket_idx);

    if (atomic_load(&ticket->state) == ADM_TICKET_ACTIVE
        && atomic_load(&ticket->programs) > 0) {
        adm_zone_orphan_ticket_locked(segment, zone, ticket_idx, now);
    }
    else {
        adm_zone_end_ticket_locked(segment, zone, ticket_idx);
        ADM_FAULT(reap_freed);
        zone->figures.reclaimed++;
    }
}

/* Reap the tickets of one child in one chunk, if the record is still that of
 * the same dead child: with the zone locked no new owner of the record can
 * have a ticket here. */
static uint32_t reap_chunk(adm_reap_round_t *round, uint32_t chunk,
                           uint32_t child_idx, uint64_t life)
{
    adm_segment_t *segment = round->segment;
    uint32_t zone_idx = atomic_load(&segment->chunk_recs[chunk].zone_idx);
    uint32_t first = chunk * ADM_CHUNK_TICKETS + 1;
    uint32_t idx, count = 0;
    adm_zone_rec_t *zone = lock_in_round(round, zone_idx);

    if (!zone) {
        return 0;
    }
    if (atomic_load(&adm_child_at(segment, child_idx)->life) == life) {
        for (idx = first; idx < first + ADM_CHUNK_TICKETS; idx++) {
            adm_ticket_rec_t *ticket = adm_ticket_at(segment, idx);
            uint32_t state = atomic_load(&ticket->state);

            if ((state == ADM_TICKET_WAITING || state == ADM_TICKET_GRANTED
                 || state == ADM_TICKET_ACTIVE)
                && ticket->child_idx == child_idx) {
                reap_ticket_locked(segment, zone, idx, round->now);
                count++;
            }
        }
    }
    adm_zone_unlock(segment, zone, round->now);
    return count;
}

static void free_record(adm_segment_t *segment, adm_child_rec_t *rec,
                        uint64_t life)
{
    uint32_t workers_held = atomic_load(&rec->workers_held);

    /* C7_record_free */
    if (atomic_compare_exchange_strong(&rec->life, &life,
                                       adm_life(0, adm_life_sequence(life) + 1,
                                                ADM_LIFE_FREE))) {
        atomic_fetch_sub(&segment->header->workers_held, workers_held);
    }
}

/* The record is what makes others look for the dead one's tickets and for the
 * lock that it may have died with: it stays until every zone was visited. */
static uint32_t reap_child(adm_reap_round_t *round, uint32_t child_idx,
                           uint64_t life)
{
    adm_segment_t *segment = round->segment;
    uint32_t chunk, count = 0;

    for (chunk = 0; chunk < adm_chunks_used(segment); chunk++) {
        count += reap_chunk(round, chunk, child_idx, life);
    }
    adm_reap_visit_zones(round, NULL);
    ADM_FAULT(reap_done);
    if (!round->is_incomplete) {
        free_record(segment, adm_child_at(segment, child_idx), life);
    }
    return count;
}

uint32_t adm_reap(adm_reap_round_t *round, const adm_child_t *self)
{
    adm_segment_t *segment = round->segment;
    uint32_t used = adm_children_used(segment);
    uint32_t idx, count = 0;

    adm_child_mark_the_dead(segment, self ? self->idx : 0);
    for (idx = 1; idx <= used; idx++) {
        uint64_t life = atomic_load(&adm_child_at(segment, idx)->life);

        if (adm_life_state(life) == ADM_LIFE_DEAD) {
            count += reap_child(round, idx, life);
        }
    }
    return count;
}

/* ---- orphans: the child is dead, its program may live --------------------- */

/* What is remembered of an orphaned ticket while its zone is not locked. */
typedef struct orphan_t {
    uint32_t ticket_idx;
    uint64_t arrival;
    adm_usec_t until; /* it is given up then */
} orphan_t;

static uint32_t collect_orphans(adm_reap_round_t *round, uint32_t zone_idx,
                                uint32_t chunk,
                                orphan_t orphans[ADM_CHUNK_TICKETS])
{
    adm_segment_t *segment = round->segment;
    uint32_t first = chunk * ADM_CHUNK_TICKETS + 1;
    uint32_t idx, count = 0;
    adm_zone_rec_t *zone = lock_in_round(round, zone_idx);

    if (!zone) {
        return 0;
    }
    for (idx = first; idx < first + ADM_CHUNK_TICKETS; idx++) {
        adm_ticket_rec_t *ticket = adm_ticket_at(segment, idx);

        if (atomic_load(&ticket->state) == ADM_TICKET_ORPHANED) {
            orphans[count++] = (orphan_t){ .ticket_idx = idx,
                                           .arrival = ticket->arrival,
                                           .until = ticket->held_until_usec };
        }
    }
    adm_zone_unlock(segment, zone, round->now);
    return count;
}

static void end_orphan(adm_reap_round_t *round, uint32_t zone_idx,
                       const orphan_t *orphan)
{
    adm_segment_t *segment = round->segment;
    adm_ticket_rec_t *ticket = adm_ticket_at(segment, orphan->ticket_idx);
    adm_zone_rec_t *zone = lock_in_round(round, zone_idx);

    if (!zone) {
        return;
    }
    if (atomic_load(&ticket->state) == ADM_TICKET_ORPHANED
        && ticket->arrival == orphan->arrival) {
        unsigned programs = atomic_load(&ticket->programs);

        adm_zone_end_ticket_locked(segment, zone, orphan->ticket_idx);
        ADM_FAULT(orphan_freed);
        if (!(programs & ADM_PROGRAMS_ABANDONED)) {
            zone->figures.reclaimed++;
        }
    }
    adm_zone_unlock(segment, zone, round->now);
}

void adm_reap_orphans(adm_reap_round_t *round)
{
    adm_segment_t *segment = round->segment;
    orphan_t orphans[ADM_CHUNK_TICKETS];
    uint32_t chunk, count, i;

    for (chunk = 0; chunk < adm_chunks_used(segment); chunk++) {
        uint32_t zone_idx = atomic_load(&segment->chunk_recs[chunk].zone_idx);
        const adm_zone_rec_t *zone = adm_zone_at(segment, zone_idx);

        if (!zone || atomic_load(&zone->orphans) == 0) {
            continue;
        }
        count = collect_orphans(round, zone_idx, chunk, orphans);
        for (i = 0; i < count; i++) {
            adm_ticket_rec_t *ticket = adm_ticket_at(segment,
                                                     orphans[i].ticket_idx);

            if (adm_program_is_over(ticket, orphans[i].arrival)
                || round->now >= orphans[i].until) {
                end_orphan(round, zone_idx, &orphans[i]);
            }
        }
    }
}
