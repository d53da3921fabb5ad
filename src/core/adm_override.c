/* adm_override.c - what an administrator sets on a running server.
 * Called by the module.
 *
 * Limit, queue length and mode are one atomic word each: a process that is
 * killed between two stores leaves a partial override, and nothing to repair.
 */
#include "adm.h"
#include "adm_fault.h"
#include "adm_history.h"
#include "adm_layout.h"
#include "adm_limit.h"
#include "adm_zone.h"

const char *adm_mode_name(adm_mode_t mode)
{
    static const char *const names[] = { [ADM_MODE_OPEN] = "open",
                                         [ADM_MODE_PAUSE] = "pause",
                                         [ADM_MODE_DRAIN] = "drain" };

    return names[mode];
}

/* @return the values in force. */
static adm_override_t in_force_locked(const adm_zone_rec_t *zone)
{
    return (adm_override_t){ .limit = adm_limit_of_administrator(zone),
                             .queue_length = adm_limit_queue_length(
                                 zone, atomic_load(&zone->queue_length)),
                             .mode = adm_limit_mode(zone) };
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
