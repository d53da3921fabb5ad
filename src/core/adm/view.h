/* adm/view.h - what administrators see and change.
 * Included by adm.h. Include adm.h, not this file.
 */
#ifndef ADM_PUBLIC_VIEW_H
#define ADM_PUBLIC_VIEW_H

#include "base.h"
#include "ticket.h"
#include "core/adm_figures.h"
#include "core/adm_proc.h"

/* ---- overrides on a running server ----------------------------------------- */

/** What happens to requests that enter a zone. */
typedef enum adm_mode_t {
    ADM_MODE_OPEN,
    ADM_MODE_PAUSE, /* no request gets a permit, new ones wait */
    ADM_MODE_DRAIN, /* new ones are rejected, waiting ones served */
    ADM_MODES       /* number of modes */
} adm_mode_t;

/** @return its name: open, pause, drain. */
const char *adm_mode_name(adm_mode_t mode);

/** Special values of an override: the configured value applies again (NONE);
 *  the override is not changed (KEEP). */
#define ADM_OVERRIDE_NONE UINT32_MAX
#define ADM_OVERRIDE_KEEP (UINT32_MAX - 1)

/** Values that apply to a zone instead of the configured ones. */
typedef struct adm_override_t {
    uint32_t limit;        /* or ADM_OVERRIDE_NONE, ADM_OVERRIDE_KEEP */
    uint32_t queue_length; /* the same */
    uint32_t mode;         /* adm_mode_t, or ADM_OVERRIDE_KEEP */
} adm_override_t;

/**
 * Override a zone's limit, queue length or mode, for all children, immediately:
 * permits that become free are granted. Applies until a configuration load
 * changes the zone's configured numbers, or the segment ends. Waits briefly.
 *
 * @param before  what applied before: limit and queue length as numbers
 * @param after   what applies now, in the same form
 * @return APR_SUCCESS, or an error of adm_view_zone(): then nothing has changed
 */
apr_status_t adm_override_set(adm_child_t *child, adm_zone_t zone,
                              const adm_override_t *wanted, adm_usec_t now,
                              adm_override_t *before, adm_override_t *after);

/* ---- zones, keys, the server ----------------------------------------------- */

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

/* ---- which requests hold a zone's permits, and which wait ------------------ */

/** Description of a request, for people. Longer texts are cut; all end with a
 *  NUL, and can be in any encoding. */
typedef struct adm_who_t {
    char client[48];
    char method[16];
    char host[64];
    char uri[64];
} adm_who_t;

/** Snapshot of one request in a zone. */
typedef struct adm_present_t {
    bool runs;           /* holds a permit, and has started */
    adm_usec_t age_usec; /* running time, or waiting time so far */
    bool is_known;       /* `who` is filled in */
    adm_who_t who;
    bool has_asked; /* the zone uses flows: the next three are set */
    char key[ADM_KEY_NAME + 1]; /* from the client, not trusted */
    uint32_t cost;              /* permits */
    adm_priority_t priority;
    pid_t program;           /* its last program; 0: unknown */
    adm_usec_t program_seen; /* for adm_proc_current_usage() */
} adm_present_t;

/** @return its name: normal, high, low. */
const char *adm_priority_name(adm_priority_t priority);

/** Maximum number of requests per call of adm_who_list(). */
#define ADM_PRESENT_MAX 64

/** Describe a request, for adm_who_list(). Only for the ticket's owner, from
 *  adm_ticket_enter() until it releases the ticket. No lock, no system call. */
void adm_who_note(const adm_ticket_t *ticket, const adm_who_t *who);

/**
 * Note that the request is about to be sent to another program on this machine,
 * and waits for its response. Only for the ticket's owner, while it holds a
 * permit. No lock, no system call.
 *
 * @param by  number of the virtual host; not 0
 */
void adm_who_note_sent(const adm_ticket_t *ticket, uint32_t by);

/** @return whether all permits of the zone are held by requests that other
 *  virtual hosts than @a by have sent to programs on this machine. Waits
 *  briefly for the zone's lock; false if that is not enough. */
bool adm_who_all_sent(adm_child_t *child, adm_zone_t zone, uint32_t by,
                      adm_usec_t now);

/**
 * Copy some of the requests that run or wait in a zone, in no order. Repeated
 * calls with the same @a cursor, which starts at 0, return all of them;
 * requests that enter or leave in the meantime can be missing. Waits briefly
 * for the zone's lock.
 *
 * @param present  ADM_PRESENT_MAX elements
 * @param count    number of requests copied; 0: there are no more
 * @return APR_SUCCESS, or an error of adm_view_zone()
 */
apr_status_t adm_who_list(adm_child_t *child, adm_zone_t zone, adm_usec_t now,
                          uint32_t *cursor, adm_present_t *present,
                          uint32_t *count);

#endif
