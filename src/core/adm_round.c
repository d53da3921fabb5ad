/* adm_round.c - periodic rounds: reap, free orphans, hand out, fall back.
 * Called by the agent; while it is not at work, by adm_ticket before a ticket
 * joins a queue, and by the module.
 */
#include <unistd.h>

#include "adm_agent.h"
#include "adm_child.h"
#include "adm_layout.h"
#include "adm_limit.h"
#include "adm_reap.h"
#include "adm_segment.h"

#define ROUND_INTERVAL_USEC ADM_USEC_PER_SEC
#define ORPHAN_INTERVAL_USEC (100 * ADM_USEC_PER_MSEC)
#define SHOWN_INTERVAL_USEC (100 * ADM_USEC_PER_MSEC)

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
    adm_reap_round_t round = { .segment = segment, .now = now };
    uint32_t deaths = atomic_load(&segment->header->deaths);
    uint32_t loads = atomic_load(&segment->header->loads);
    bool has_news = deaths != atomic_load(&child->deaths_seen)
                    || loads != atomic_load(&child->loads_seen);
    uint32_t count;

    if (adm_lock_is_held_here()
        || !(adm_due(&child->next_round, now, ROUND_INTERVAL_USEC) || has_news
             || by_force)) {
        return 0;
    }
    /* W3_slice_looks_around */
    atomic_store(&child->deaths_seen, deaths);
    atomic_store(&child->loads_seen, loads);
    count = adm_reap(&round, child);
    if (has_orphans(segment)) {
        /* Makes system calls for each orphan: one process at a time is
         * enough. */
        if (adm_due(&segment->header->next_orphan_round, now,
                    ORPHAN_INTERVAL_USEC)) {
            adm_reap_orphans(&round);
        }
        atomic_store(&child->next_round, now + ORPHAN_INTERVAL_USEC);
    }
    adm_reap_visit_zones(&round, has_work);
    if (round.is_incomplete && !has_orphans(segment)) {
        atomic_store(&child->next_round, now + ADM_WAIT_SLICE_USEC);
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
    adm_child_t *child = NULL;
    pid_t pid = getpid();
    bool is_helped;

    if (!adm_segment_is_ours(segment)) {
        return ADM_BAD_SEGMENT;
    }
    is_helped = adm_agent_is_at_work(segment, adm_now());
    adm_child_mark_namesakes(segment, pid);
    if (is_helped) {
        child = adm_child_claim(segment, pid, generation, pool);
    }
    if (!child) {
        /* Dead children might occupy all records. */
        adm_reap(&(adm_reap_round_t){ .segment = segment, .now = adm_now() },
                 NULL);
        child = adm_child_claim(segment, pid, generation, pool);
    }
    if (!child) {
        return ADM_NO_CHILD;
    }
    *registered = child;
    if (!is_helped) {
        adm_round(child, adm_now(), true);
    }
    return APR_SUCCESS;
}
