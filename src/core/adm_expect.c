/* adm_expect.c - estimate how long a new request would have to wait.
 * Called by adm_ticket_enter and adm_dry_run, under the zone's lock.
 */
#include "adm_expect.h"
#include "fair/fair_flow.h"
#include "adm_limit.h"
#include "fair/fair_ring.h"
#include "law_wait.h"

void adm_expect_begin_locked(adm_zone_rec_t *zone)
{
    zone->figures.has_target = 1;
}

/* The slow mean: one expensive request must not cause rejections. */
static uint64_t service_time(const adm_zone_rec_t *zone, adm_usec_t now)
{
    return zone->figures.slow_count ? zone->figures.slow_mean_usec
                                    : adm_limit_service_time(zone, now);
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

typedef struct class_t {
    uint64_t tickets;
    uint64_t permits; /* each ticket counts as the limit at most */
} class_t;

/* @return the waiting tickets of one priority, and the permits that they take: a ticket
 * takes at most @a limit. */
static class_t class_of(const adm_flow_table_rec_t *table, unsigned priority,
                        uint32_t limit)
{
    class_t sum = { 0 };
    unsigned size;

    for (size = 0; size < ADM_COST_SIZES; size++) {
        const adm_waiting_rec_t *waiting = &table->waiting[priority][size];

        sum.tickets += waiting->tickets;
        sum.permits += lesser(waiting->cost,
                              (uint64_t)waiting->tickets * limit);
    }
    return sum;
}

/* @return the permits that @a others take in @a turns turns. */
static uint64_t permits_in_turns(class_t others, uint64_t turns)
{
    return turns < others.tickets ? others.permits * turns / others.tickets
                                  : others.permits;
}

/* A key with a maximum runs fewer requests concurrently than the zone has
 * permits. @return how many the zone could run until the waiting requests of
 * the key have run. */
static uint64_t permits_while_key_runs(const adm_flow_table_rec_t *table,
                                       const adm_entry_t *entry, uint32_t limit)
{
    return entry->key_max != 0 && entry->key_max < limit
               ? (uint64_t)adm_flow_waiting(table, entry->key) * limit
                     / entry->key_max
               : 0;
}

/* @return the number of permits that other requests take before this one. */
static uint64_t permits_ahead(const adm_flow_table_rec_t *table,
                              const adm_entry_t *entry, uint32_t limit)
{
    unsigned priority = entry->priority % ADM_PRIORITIES, other;
    class_t own = class_of(table, priority, limit);
    uint64_t ahead = own.permits + lesser(entry->cost ? entry->cost : 1, limit)
                     - 1;
    uint64_t turns = own.tickets;

    if (entry->key) {
        turns = lesser(turns, adm_flow_turns_before(table, entry->key));
        ahead = lesser(ahead, adm_flow_turns_before(table, entry->key));
        ahead = greater(ahead, permits_while_key_runs(table, entry, limit));
    }
    for (other = 0; other < ADM_PRIORITIES; other++) {
        if (other != priority) {
            ahead += permits_in_turns(class_of(table, other, limit),
                                      adm_ring_turns_beside(priority, other,
                                                            turns + 1));
        }
    }
    return ahead;
}

static uint32_t to_32_bits(uint64_t number)
{
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX - 1;
}

/* At least 1: the limit is 0 while the zone is paused. */
static uint32_t permits_of(const adm_zone_rec_t *zone)
{
    uint32_t limit = adm_limit_effective(zone);

    return limit ? limit : 1;
}

/* @return the expected wait behind @a queued requests, from recent service
 * times. 0 if the queue is empty: one slow request must not close the zone. */
static adm_usec_t wait_locked(const adm_segment_t *segment,
                              const adm_zone_rec_t *zone,
                              const adm_entry_t *entry, uint32_t queued,
                              adm_usec_t now)
{
    const adm_flow_table_rec_t *table = adm_flow_table(segment, zone);
    uint32_t limit = permits_of(zone);
    uint32_t ahead = queued;

    if (queued == 0) {
        return 0;
    }
    if (table && !entry->dry_run) {
        ahead = to_32_bits(permits_ahead(table, entry, limit));
    }
    return (adm_usec_t)law_wait_usec(ahead, service_time(zone, now), limit);
}

adm_usec_t adm_expect_drain_locked(const adm_segment_t *segment,
                                   const adm_zone_rec_t *zone, uint32_t queued,
                                   adm_usec_t now)
{
    const adm_flow_table_rec_t *table = adm_flow_table(segment, zone);
    uint64_t permits = 0;
    unsigned priority;

    if (!table) {
        return adm_limit_drain_time(zone, queued, now);
    }
    for (priority = 0; priority < ADM_PRIORITIES; priority++) {
        permits += class_of(table, priority, permits_of(zone)).permits;
    }
    return adm_limit_drain_time(zone, to_32_bits(permits), now);
}

bool adm_expect_is_late_locked(const adm_segment_t *segment,
                               const adm_zone_rec_t *zone,
                               const adm_entry_t *entry, uint32_t queued,
                               adm_usec_t now, adm_usec_t *by)
{
    adm_usec_t expected;

    if (entry->target_usec == 0 || adm_limit_mode(zone) == ADM_MODE_PAUSE) {
        return false;
    }
    expected = wait_locked(segment, zone, entry, queued, now);
    if (expected <= entry->target_usec) {
        return false;
    }
    *by = expected - entry->target_usec;
    return true;
}
