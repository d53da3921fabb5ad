/* adm_reap.c - reclaim the permits of dead children and of ended programs.
 * Called by adm_round.
 *
 * Any number of processes can reap concurrently, and each can be killed at any
 * moment: every step is made under one zone's lock and is recorded in the
 * tickets.
 */
#include "adm_child.h"
#include "adm_fault.h"
#include "adm_layout.h"
#include "adm_program.h"
#include "adm_reap.h"
#include "adm_zone.h"

/* ---- visit all zones ----------------------------------------------------- */

/* Lock a zone. Waits for a lock that is in use, but after one failed wait only
 * tries the remaining zones. */
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

/* End a ticket of a dead child. If it started a program, the ticket becomes an
 * orphan. */
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

/* Reap the tickets of one child in one chunk. While the zone is locked, an
 * unchanged @a life means that no other process uses the child's record. */
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

/* Free a dead child's record, and the workers that it held. */
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

/* Reap all tickets of a dead child, then free its record. The record stays DEAD
 * until every zone has been visited. Until then, other processes also search
 * for the child's tickets, and for a lock that the child died with. */
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

    adm_child_mark_dead(segment, self ? self->idx : 0);
    for (idx = 1; idx <= used; idx++) {
        uint64_t life = atomic_load(&adm_child_at(segment, idx)->life);

        if (adm_life_state(life) == ADM_LIFE_DEAD) {
            count += reap_child(round, idx, life);
        }
    }
    return count;
}

/* ---- orphans ------------------------------------------------------------- */

/* Free the permit, unless the ticket has ended in the meantime. */
static void end_orphan(adm_reap_round_t *round, uint32_t zone_idx,
                       uint32_t ticket_idx, uint64_t arrival)
{
    adm_segment_t *segment = round->segment;
    adm_ticket_rec_t *ticket = adm_ticket_at(segment, ticket_idx);
    adm_zone_rec_t *zone = lock_in_round(round, zone_idx);

    if (!zone) {
        return;
    }
    if (atomic_load(&ticket->state) == ADM_TICKET_ORPHANED
        && ticket->arrival == arrival) {
        unsigned programs = atomic_load(&ticket->programs);

        adm_zone_end_ticket_locked(segment, zone, ticket_idx);
        ADM_FAULT(orphan_freed);
        if (!(programs & ADM_PROGRAMS_ABANDONED)) {
            zone->figures.reclaimed++;
        }
    }
    adm_zone_unlock(segment, zone, round->now);
}

/* Free the permits of a chunk's orphans that are over. Checks them without the
 * zone's lock, because it makes system calls. If a ticket ends in the meantime,
 * another request can have its record: end_orphan() compares the arrival. */
static void check_orphans(adm_reap_round_t *round, uint32_t zone_idx,
                          uint32_t first_idx)
{
    uint32_t idx;

    for (idx = first_idx; idx < first_idx + ADM_CHUNK_TICKETS; idx++) {
        adm_ticket_rec_t *ticket = adm_ticket_at(round->segment, idx);
        uint64_t arrival = ticket->arrival;

        if (atomic_load(&ticket->state) == ADM_TICKET_ORPHANED
            && (adm_program_is_over(ticket, arrival)
                || round->now >= ticket->held_until_usec)) {
            end_orphan(round, zone_idx, idx, arrival);
        }
    }
}

void adm_reap_orphans(adm_reap_round_t *round)
{
    adm_segment_t *segment = round->segment;
    uint32_t chunk;

    for (chunk = 0; chunk < adm_chunks_used(segment); chunk++) {
        uint32_t zone_idx = atomic_load(&segment->chunk_recs[chunk].zone_idx);
        const adm_zone_rec_t *zone = adm_zone_at(segment, zone_idx);

        if (zone && atomic_load(&zone->orphans)) {
            check_orphans(round, zone_idx, chunk * ADM_CHUNK_TICKETS + 1);
        }
    }
}
