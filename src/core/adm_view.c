/* adm_view.c - what administrators see.
 * Called by the module.
 */
#include <string.h>

#include "adm_account.h"
#include "fair/fair_flow.h"
#include "adm_hand_over.h"
#include "adm_history.h"
#include "adm_layout.h"
#include "adm_limit.h"
#include "adm_zone.h"

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
        .is_overridden = adm_limit_has_override(rec),
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
