/* adm/view.h - what an administrator sees.
 * Included by adm.h, which is what others include.
 */
#ifndef ADM_PUBLIC_VIEW_H
#define ADM_PUBLIC_VIEW_H

#include "base.h"
#include "override.h"
#include "ticket.h"
#include "core/adm_figures.h"
#include "core/adm_outcome.h"

/** @return whether anybody waits in any zone. */
bool adm_view_has_waiters(const adm_segment_t *segment);

/** One consistent copy of what a zone is and counts. */
typedef struct adm_zone_stats_t {
    uint32_t limit;
    uint32_t limit_configured;
    uint32_t limit_ordered; /* by the administrator, or ADM_OVERRIDE_NONE */
    adm_mode_t mode;
    bool is_overridden; /* limit, queue length or mode are not as configured */
    uint32_t queue_length; /* as the last request saw it */
    uint32_t active;       /* permits given out */
    uint32_t orphans;      /* of these, held by programs whose child is dead */
    uint32_t queued;
    adm_usec_t oldest_wait_usec;
    adm_figures_t figures;
    uint64_t available_kb; /* memory of the machine; 0: not known */
} adm_zone_stats_t;

/** The last ten minutes, the newest second last. */
#define ADM_HISTORY_SECONDS 600

typedef struct adm_history_t {
    uint32_t active[ADM_HISTORY_SECONDS]; /* most at once in that second */
    uint32_t queued[ADM_HISTORY_SECONDS];
    uint64_t rejected[ADM_HISTORY_SECONDS]; /* for any reason, until its end */
    uint32_t limit[ADM_HISTORY_SECONDS];    /* at its end; 0 while paused */
} adm_history_t;

/**
 * Copy a zone's figures, and what it remembers, at one moment under its lock,
 * for which it waits briefly.
 *
 * @param history  NULL: not wanted; that saves a copy of 5 KB under the lock.
 * @return APR_SUCCESS, or why it cannot be done, such as ADM_ZONE_BUSY or
 *         ADM_ZONE_RETIRED: then nothing was written.
 */
apr_status_t adm_view_zone(adm_child_t *child, adm_zone_t zone, adm_usec_t now,
                           adm_zone_stats_t *stats, adm_history_t *history);

/** What a zone knows of one key. */
typedef struct adm_key_stats_t {
    char name[ADM_KEY_NAME
              + 1];   /* as a request said it: show it, trust it not */
    uint32_t held;    /* permits */
    uint32_t waiting; /* requests */
} adm_key_stats_t;

#define ADM_KEYS_SHOWN 10

/**
 * Copy the keys with the most permits and waiting requests, the largest first.
 * Waits briefly for the zone.
 *
 * @return how many, 0 if the zone does not use flows, cannot be locked, or has given its
 *         slot to another one.
 */
uint32_t adm_view_keys(adm_child_t *child, adm_zone_t zone, adm_usec_t now,
                       adm_key_stats_t keys[ADM_KEYS_SHOWN]);

typedef struct adm_server_stats_t {
    uint32_t worker_cap;      /* workers that zones may occupy together */
    uint32_t workers_held;    /* that they do occupy */
    uint32_t workers_blocked; /* of these, only waiting */
    uint32_t blocked;         /* waiting with a thread, also one of HTTP/2's */
    uint32_t parked;          /* waiting without a worker */
    uint32_t transfers;       /* sent or received without a worker */
    uint64_t unlimited;       /* requests let through because of a fault */
    uint64_t tickets_ignored; /* requests with a forged or stale one */
    bool has_agent;           /* that is at work */
    uint64_t available_kb;    /* memory without swapping; 0: not known */
} adm_server_stats_t;

/** Sum up the living children. */
void adm_view_server(adm_segment_t *segment, adm_server_stats_t *stats);

/**
 * @return whether no process of the server was told so of this zone and outcome
 * within @a interval. Idx 0 of @a zone: of no zone in particular.
 */
bool adm_zone_may_log(adm_segment_t *segment, adm_zone_t zone,
                      adm_outcome_t outcome, adm_usec_t now,
                      adm_usec_t interval);

#endif
