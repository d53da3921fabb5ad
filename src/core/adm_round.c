/* adm_round.c - periodic rounds: reclaim the permits of dead children and of
 * ended programs, hand out, fall back.
 * Called by the agent; while it is not at work, by adm_ticket before a ticket
 * joins a queue, and by the module.
 *
 * Any number of processes can reap concurrently, and each can be killed at any
 * moment: every step is made under one zone's lock and is recorded in the
 * tickets.
 */
#include <unistd.h>

#include "adm_agent.h"
#include "adm_child.h"
#include "adm_fault.h"
#include "adm_layout.h"
#include "adm_limit.h"
#include "adm_program.h"
#include "adm_segment.h"
#include "adm_zone.h"

#define ROUND_INTERVAL_USEC ADM_USEC_PER_SEC
#define ORPHAN_INTERVAL_USEC (100 * ADM_USEC_PER_MSEC)
#define SHOWN_INTERVAL_USEC (100 * ADM_USEC_PER_MSEC)

/* One visit to all zones. A zone whose lock is held by a stopped process is
 * skipped, so that it does not delay the others. */
typedef struct round_t {
    adm_segment_t *segment;
    adm_usec_t now;
    bool is_incomplete; /* a zone was skipped, its lock was held */
} round_t;

/* ---- visit all zones ----------------------------------------------------- */

/* Lock a zone. Waits for a lock that is in use, but after one failed wait only
 * tries the remaining zones. */
static adm_zone_rec_t *lock_in_round(round_t *round, uint32_t zone_idx)
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

/* Lock and unlock the zones for which @a is_wanted returns true; NULL: all.
 * Locking repairs a zone whose owner died; unlocking grants the permits of a
 * raised limit. */
static void visit_zones(round_t *round,
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

/* Children that were dead before a search for their tickets. */
#define REAPED_TOGETHER 64
typedef struct dead_t {
    uint32_t count;
    uint32_t child_idx[REAPED_TOGETHER];
    uint64_t life[REAPED_TOGETHER];
} dead_t;

/* @return whether a ticket belongs to one of @a dead. While the zone is locked,
 * an unchanged `life` means that no other process uses the child's record. */
static bool belongs_to_one(adm_segment_t *segment, const dead_t *dead,
                           const adm_ticket_rec_t *ticket)
{
    uint32_t n;

    for (n = 0; n < dead->count; n++) {
        if (ticket->child_idx == dead->child_idx[n]) {
            return atomic_load(&adm_child_at(segment, dead->child_idx[n])->life)
                   == dead->life[n];
        }
    }
    return false;
}

static uint32_t reap_chunk(round_t *round, uint32_t chunk, const dead_t *dead)
{
    adm_segment_t *segment = round->segment;
    uint32_t zone_idx = atomic_load(&segment->chunk_recs[chunk].zone_idx);
    uint32_t first = chunk * ADM_CHUNK_TICKETS + 1;
    uint32_t idx, count = 0;
    adm_zone_rec_t *zone = lock_in_round(round, zone_idx);

    if (!zone) {
        return 0;
    }
    for (idx = first; idx < first + ADM_CHUNK_TICKETS; idx++) {
        adm_ticket_rec_t *ticket = adm_ticket_at(segment, idx);
        uint32_t state = atomic_load(&ticket->state);

        if ((state == ADM_TICKET_WAITING || state == ADM_TICKET_GRANTED
             || state == ADM_TICKET_ACTIVE)
            && belongs_to_one(segment, dead, ticket)) {
            reap_ticket_locked(segment, zone, idx, round->now);
            count++;
        }
    }
    adm_zone_unlock(segment, zone, round->now);
    return count;
}

/* Free a dead child's record, and the workers that it held. If it was killed
 * before it had cleared its record, the count is an earlier child's. */
static void free_record(adm_segment_t *segment, adm_child_rec_t *rec,
                        uint64_t life)
{
    uint32_t sequence = adm_life_sequence(life);
    bool is_cleared = atomic_load(&rec->cleared_as) == sequence;
    uint32_t workers_held = is_cleared ? atomic_load(&rec->workers_held) : 0;

    /* C7_record_free */
    if (atomic_compare_exchange_strong(&rec->life, &life,
                                       adm_life(0, sequence + 1,
                                                ADM_LIFE_FREE))) {
        atomic_fetch_sub(&segment->header->workers_held, workers_held);
    }
}

/* Reap all tickets of dead children, then free their records. The records stay
 * DEAD until every zone has been visited, once for all of them. Until then,
 * other processes also search for the children's tickets, and for a lock that a
 * child died with. */
static uint32_t reap_children(round_t *round, const dead_t *dead)
{
    adm_segment_t *segment = round->segment;
    uint32_t chunk, n, count = 0;

    for (chunk = 0; chunk < adm_chunks_used(segment); chunk++) {
        count += reap_chunk(round, chunk, dead);
    }
    visit_zones(round, NULL);
    ADM_FAULT(reap_done);
    for (n = 0; n < dead->count && !round->is_incomplete; n++) {
        free_record(segment, adm_child_at(segment, dead->child_idx[n]),
                    dead->life[n]);
    }
    return count;
}

/* Find dead children and reclaim their permits, except in zones whose lock is
 * held for long. @return the number of tickets reclaimed. */
static uint32_t reap(round_t *round)
{
    adm_segment_t *segment = round->segment;
    uint32_t used = adm_children_used(segment);
    uint32_t idx, count = 0;
    dead_t dead = { 0 };

    for (idx = 1; idx <= used; idx++) {
        uint64_t life = adm_child_check(segment, idx);

        if (adm_life_state(life) == ADM_LIFE_DEAD) {
            dead.child_idx[dead.count] = idx;
            dead.life[dead.count++] = life;
        }
        if (dead.count == REAPED_TOGETHER || (idx == used && dead.count)) {
            count += reap_children(round, &dead);
            dead.count = 0;
        }
    }
    return count;
}

/* ---- orphans ------------------------------------------------------------- */

/* Free the permit, unless the ticket has ended in the meantime. */
static void end_orphan(round_t *round, uint32_t zone_idx, uint32_t ticket_idx,
                       uint64_t arrival)
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
static void check_orphans(round_t *round, uint32_t zone_idx, uint32_t first_idx)
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

/* Free the permits of orphans whose programs have ended, or whose grace period
 * is over. Makes system calls for each orphan. */
static void reap_orphans(round_t *round)
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

/* ---- the round ------------------------------------------------------------ */

static bool has_orphans(const adm_segment_t *segment)
{
    uint32_t used = adm_zones_used(segment);
    uint32_t idx;

    for (idx = 1; idx <= used; idx++) {
        if (atomic_load(&adm_zone_at(segment, idx)->orphans)) {
            return true;
        }
    }
    return false;
}

/* Whether unlocking the zone can have an effect. Counts that a dead owner left
 * wrong do not matter: `queued` is too low only by the owner's own ticket,
 * which will be reaped. */
static bool has_work(const adm_zone_rec_t *zone)
{
    return atomic_load(&zone->queued) || atomic_load(&zone->has_left);
}

uint32_t adm_round(adm_child_t *child, adm_usec_t now, bool by_force)
{
    adm_segment_t *segment = child->segment;
    round_t round = { .segment = segment, .now = now };
    uint32_t news = atomic_load(&segment->header->news);
    bool has_news = news != atomic_load(&child->news_seen);
    bool finds_orphans;
    uint32_t count;

    if (adm_lock_is_held_here()
        || !(adm_due(&child->next_round, now, ROUND_INTERVAL_USEC) || has_news
             || by_force)) {
        return 0;
    }
    /* W3_slice_looks_around */
    atomic_store(&child->news_seen, news);
    count = reap(&round);
    finds_orphans = has_orphans(segment);
    if (finds_orphans
        && adm_due(&segment->header->next_orphan_round, now,
                   ORPHAN_INTERVAL_USEC)) {
        /* Makes system calls for each orphan: one process at a time is
         * enough. */
        reap_orphans(&round);
    }
    visit_zones(&round, has_work);
    if (finds_orphans || round.is_incomplete) {
        atomic_store(&child->next_round,
                     now
                         + (finds_orphans ? ORPHAN_INTERVAL_USEC
                                          : ADM_WAIT_SLICE_USEC));
    }
    return count;
}

/* Lower measured limits whose term is over. */
static void fall_back(adm_segment_t *segment, adm_usec_t now)
{
    uint32_t used = adm_zones_used(segment);
    uint32_t idx;

    if (!adm_due(&segment->header->next_fall_back, now, ADM_USEC_PER_SEC)) {
        return;
    }
    for (idx = 1; idx <= used; idx++) {
        adm_limit_fall_back(adm_zone_at(segment, idx), now);
    }
}

/* Make a round instead of the agent; none while the agent is at work. */
static uint32_t round_without_agent(adm_child_t *child, adm_usec_t now,
                                    bool is_to_show)
{
    if (adm_agent_is_at_work(child->segment, now)) {
        return 0;
    }
    fall_back(child->segment, now);
    return adm_round(child, now,
                     is_to_show
                         && adm_due(&child->segment->header->next_shown_round,
                                    now, SHOWN_INTERVAL_USEC));
}

uint32_t adm_round_help(adm_child_t *child, adm_usec_t now)
{
    return round_without_agent(child, now, false);
}

uint32_t adm_round_to_show(adm_child_t *child, adm_usec_t now)
{
    return round_without_agent(child, now, true);
}

adm_usec_t adm_round_next(const adm_child_t *child)
{
    return atomic_load(&child->next_round);
}

/* ---- a new child ---------------------------------------------------------- */

apr_status_t adm_child_register(adm_child_t **registered,
                                adm_segment_t *segment, uint32_t generation,
                                apr_pool_t *pool)
{
    adm_child_t *child;
    pid_t pid = getpid();

    if (!adm_segment_is_ours(segment)) {
        return ADM_BAD_SEGMENT;
    }
    if (!adm_child_is_registered_here()) {
        adm_child_ended(segment, pid); /* a process whose PID was reused */
    }
    child = adm_child_claim(segment, pid, generation, pool);
    if (!child) {
        /* Dead children might occupy all records. */
        reap(&(round_t){ .segment = segment, .now = adm_now() });
        child = adm_child_claim(segment, pid, generation, pool);
    }
    if (!child) {
        return ADM_NO_CHILD;
    }
    *registered = child;
    if (!adm_agent_is_at_work(segment, adm_now())) {
        adm_round(child, adm_now(), true);
    }
    return APR_SUCCESS;
}
