/* adm/view.h - what administrators see.
 * Included by adm.h, which is what others include.
 */
#ifndef ADM_PUBLIC_VIEW_H
#define ADM_PUBLIC_VIEW_H

#include "base.h"
#include "override.h"
#include "ticket.h"
#include "core/adm_figures.h"
#include "core/adm_outcome.h"

/** @return whether any request waits in any zone. No lock. */
bool adm_view_has_waiters(const adm_segment_t *segment);

/** Consistent copy of a zone's state and statistics. */
typedef struct adm_zone_stats_t {
    uint32_t limit;
    uint32_t limit_configured;
    uint32_t limit_override; /* override, or ADM_OVERRIDE_NONE */
    adm_mode_t mode;
    bool is_overridden; /* limit, queue length or mode are not as configured */
    uint32_t queue_length; /* in force, for the last request's section */
    uint32_t active;       /* permits in use */
    uint32_t orphans;      /* of these, held by orphaned programs */
    uint32_t queued;
    adm_usec_t oldest_wait_usec;
    adm_figures_t figures;
    uint64_t available_kb; /* memory that is available; 0: unknown */
} adm_zone_stats_t;

/** The last ten minutes, the newest second last. */
#define ADM_HISTORY_SECONDS 600

typedef struct adm_history_t {
    uint32_t active[ADM_HISTORY_SECONDS]; /* maximum in that second */
    uint32_t queued[ADM_HISTORY_SECONDS];
    uint64_t rejected[ADM_HISTORY_SECONDS]; /* total at its end, for any
                                             * reason */
    uint32_t limit[ADM_HISTORY_SECONDS];    /* at its end; 0 while paused */
} adm_history_t;

/**
 * Copy a zone's state and, if wanted, its history, at one moment under its
 * lock, for which it waits briefly.
 *
 * @param history  NULL: not wanted, which saves a copy of 5 KB under the lock
 * @return APR_SUCCESS, or an error such as ADM_ZONE_BUSY or ADM_ZONE_RETIRED:
 *         then nothing was written
 */
apr_status_t adm_view_zone(adm_child_t *child, adm_zone_t zone, adm_usec_t now,
                           adm_zone_stats_t *stats, adm_history_t *history);

/** State of one key in a zone. */
typedef struct adm_key_stats_t {
    char name[ADM_KEY_NAME + 1]; /* from the client, not trusted */
    uint32_t held;               /* permits */
    uint32_t waiting;            /* requests */
} adm_key_stats_t;

#define ADM_KEYS_SHOWN 10

/**
 * Copy the keys with the most permits and waiting requests, largest first.
 * Waits briefly for the zone.
 *
 * @return the number of keys; 0 if the zone has no flows, cannot be locked, or
 *         its slot has another zone now
 */
uint32_t adm_view_keys(adm_child_t *child, adm_zone_t zone, adm_usec_t now,
                       adm_key_stats_t keys[ADM_KEYS_SHOWN]);

typedef struct adm_server_stats_t {
    uint32_t worker_cap;      /* workers that zones may occupy together */
    uint32_t workers_held;    /* of these, occupied */
    uint32_t workers_blocked; /* of these, blocked */
    uint32_t blocked;         /* requests that wait on a thread */
    uint32_t parked;          /* requests that wait without a worker */
    uint32_t transfers;       /* bodies and responses without a worker */
    uint64_t unlimited;       /* requests not counted because of a fault */
    uint64_t tickets_ignored; /* requests with a forged or ended one */
    bool has_agent;           /* the agent is at work */
    uint64_t available_kb;    /* memory that is available; 0: unknown */
} adm_server_stats_t;

/** Sum up the counts of living children. No lock. */
void adm_view_server(adm_segment_t *segment, adm_server_stats_t *stats);

/** @return whether to log this outcome of a zone: true once per @a interval
 *  across all processes. @a zone with idx 0: no zone in particular. No lock. */
bool adm_zone_may_log(adm_segment_t *segment, adm_zone_t zone,
                      adm_outcome_t outcome, adm_usec_t now,
                      adm_usec_t interval);

#endif
