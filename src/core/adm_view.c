/* adm_view.c - what administrators see, and set on a running server.
 * Called by the module.
 */
#include <string.h>

#include "adm_account.h"
#include "adm_fault.h"
#include "fair/fair_flow.h"
#include "adm_hand_over.h"
#include "adm_history.h"
#include "adm_layout.h"
#include "adm_limit.h"
#include "adm_zone.h"

/* Whether any override applies. */
static bool has_override(const adm_zone_rec_t *zone)
{
    return adm_limit_of_source(zone, ADM_LIMIT_OVERRIDE) != ADM_LIMIT_NONE
           || atomic_load(&zone->queue_length_override) != 0
           || adm_limit_mode(zone) != ADM_MODE_OPEN;
}

apr_status_t adm_view_zone(adm_child_t *child, adm_zone_t zone, adm_usec_t now,
                           adm_zone_stats_t *stats, adm_history_t *history)
{
    adm_segment_t *segment = child->segment;
    apr_status_t rv;
    adm_remembered_t remembered;
    adm_zone_rec_t *rec = adm_zone_open(segment, zone, now, &rv);

    if (!rec) {
        return rv;
    }
    adm_hand_over_settle_locked(segment, rec, now);
    *stats = (adm_zone_stats_t){
        .limit = adm_limit_effective(rec),
        .limit_configured = adm_limit_of_source(rec, ADM_LIMIT_CONFIGURED),
        .limit_override = adm_limit_of_source(rec, ADM_LIMIT_OVERRIDE),
        .mode = adm_limit_mode(rec),
        .is_overridden = has_override(rec),
        .queue_length = adm_limit_queue_length(rec,
                                               atomic_load(&rec->queue_length)),
        .active = atomic_load(&rec->active),
        .orphans = atomic_load(&rec->orphans),
        .queued = atomic_load(&rec->queued),
        .oldest_wait_usec = adm_oldest_wait_locked(segment, rec, now),
        .figures = rec->figures
    };
    if (history) {
        adm_history_copy_locked(segment, rec, now, &remembered);
    }
    adm_zone_unlock(segment, rec, now);
    stats->available_kb = adm_account_available(segment, now);
    if (history) {
        adm_history_copy_out(&remembered, now, history);
    }
    return APR_SUCCESS;
}

/* Insert a key into the list of the largest keys, which is sorted by size:
 * permits held and requests waiting. */
static void insert_key(adm_key_stats_t keys[ADM_KEYS_SHOWN], uint32_t *count,
                       const fair_flow_rec_t *flow, const char *name)
{
    uint32_t size = flow->held + flow->waiting;
    uint32_t place = *count;

    while (place > 0 && keys[place - 1].held + keys[place - 1].waiting < size) {
        if (place < ADM_KEYS_SHOWN) {
            keys[place] = keys[place - 1];
        }
        place--;
    }
    if (place < ADM_KEYS_SHOWN) {
        keys[place].held = flow->held;
        keys[place].waiting = flow->waiting;
        memcpy(keys[place].name, name, ADM_KEY_NAME);
        keys[place].name[ADM_KEY_NAME] = '\0';
        *count += *count < ADM_KEYS_SHOWN;
    }
}

uint32_t adm_view_keys(adm_child_t *child, adm_zone_t zone, adm_usec_t now,
                       adm_key_stats_t keys[ADM_KEYS_SHOWN])
{
    adm_segment_t *segment = child->segment;
    apr_status_t rv;
    adm_zone_rec_t *rec = adm_zone_open(segment, zone, now, &rv);
    const adm_flow_table_rec_t *table = rec ? fair_flow_table(segment, rec)
                                            : NULL;
    bool has_keys = table && (table->holding || table->waiting_flows);
    uint32_t count = 0, n;

    /* Even reading a page of shared memory would allocate it. */
    for (n = 0; has_keys && n < ADM_FLOWS; n++) {
        const fair_flow_rec_t *flow = &table->flows[n];

        if (flow->key && (flow->held || flow->waiting)) {
            insert_key(keys, &count, flow, table->names[n]);
        }
    }
    if (rec) {
        adm_zone_unlock(segment, rec, now);
    }
    return count;
}

void adm_view_server(adm_segment_t *segment, adm_server_stats_t *stats)
{
    const adm_child_rec_t *rec;
    uint32_t idx = 0;

    *stats = (adm_server_stats_t){
        .worker_cap = atomic_load(&segment->header->worker_cap),
        .unlimited = atomic_load(&segment->header->unlimited),
        .tickets_ignored = atomic_load(&segment->header->tickets_ignored),
        .has_agent = adm_agent_is_at_work(segment, adm_now()),
        .available_kb = adm_account_available(segment, adm_now())
    };
    while ((rec = adm_child_next(segment, &idx))) {
        stats->workers_held += atomic_load(&rec->workers_held);
        stats->blocked += atomic_load(&rec->blocked);
        stats->workers_blocked += atomic_load(&rec->workers_blocked);
        stats->parked += atomic_load(&rec->parked);
        stats->transfers += atomic_load(&rec->transfers);
    }
}

bool adm_view_has_waiters(const adm_segment_t *segment)
{
    uint32_t used = adm_zones_used(segment);
    uint32_t idx;

    for (idx = 1; idx <= used; idx++) {
        if (atomic_load(&adm_zone_at(segment, idx)->queued)) {
            return true;
        }
    }
    return false;
}

/* ---- overrides ------------------------------------------------------------ */

/* Limit, queue length and mode are one atomic word each: a process that is
 * killed between two stores leaves a partial override, and nothing to repair. */

const char *adm_mode_name(adm_mode_t mode)
{
    static const char *const names[] = { [ADM_MODE_OPEN] = "open",
                                         [ADM_MODE_PAUSE] = "pause",
                                         [ADM_MODE_DRAIN] = "drain" };

    return names[mode];
}

/* @return the administrator's values: the overrides, otherwise the configured
 * ones. */
static adm_override_t in_force_locked(const adm_zone_rec_t *zone)
{
    uint32_t limit = adm_limit_of_source(zone, ADM_LIMIT_OVERRIDE);

    return (adm_override_t){
        .limit = limit != ADM_LIMIT_NONE
                     ? limit
                     : adm_limit_of_source(zone, ADM_LIMIT_CONFIGURED),
        .queue_length = adm_limit_queue_length(zone, atomic_load(
                                                         &zone->queue_length)),
        .mode = adm_limit_mode(zone)
    };
}

/* The queue length is stored + 1, so that ADM_OVERRIDE_NONE becomes 0. */
static void store_locked(adm_zone_rec_t *zone, const adm_override_t *wanted)
{
    if (wanted->limit != ADM_OVERRIDE_KEEP) {
        adm_limit_set(zone, ADM_LIMIT_OVERRIDE, wanted->limit);
        ADM_FAULT(override_limit);
    }
    if (wanted->queue_length != ADM_OVERRIDE_KEEP) {
        atomic_store(&zone->has_other_limits, 1);
        atomic_store(&zone->queue_length_override, wanted->queue_length + 1);
    }
    if (wanted->mode != ADM_OVERRIDE_KEEP) {
        atomic_store(&zone->has_other_limits, 1);
        atomic_store(&zone->mode, wanted->mode);
    }
}

apr_status_t adm_override_set(adm_child_t *child, adm_zone_t zone,
                              const adm_override_t *wanted, adm_usec_t now,
                              adm_override_t *before, adm_override_t *after)
{
    adm_segment_t *segment = child->segment;
    apr_status_t rv;
    adm_zone_rec_t *rec = adm_zone_open(segment, zone, now, &rv);

    if (!rec) {
        return rv;
    }
    *before = in_force_locked(rec);
    adm_history_note_limit_locked(segment, rec, now);
    store_locked(rec, wanted);
    ADM_FAULT(override_stored);
    adm_history_note_limit_locked(segment, rec, now);
    *after = in_force_locked(rec);
    adm_zone_unlock(segment, rec, now); /* grants the permits that are free
                                         * now */
    return APR_SUCCESS;
}
