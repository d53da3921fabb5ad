/* adm_layout_zone.h - private: what a zone has in the segment beside its record.
 * Included by adm_layout.h.
 */
#ifndef ADM_LAYOUT_ZONE_H
#define ADM_LAYOUT_ZONE_H

#include <stdatomic.h>

#include "adm.h"
#include "fleet/law_fleet.h"
#include "auto/law_tune_state.h"

#define ADM_CACHE_LINE 64

/* One second of a zone. Zone lock. Limit and queue length are below 2^16, and
 * so are the numbers; what a torn segment has beyond is shown as 2^16 - 1. */
typedef struct adm_second_rec_t {
    uint16_t active_max; /* most at once in it */
    uint16_t queued_max;
    uint32_t rejected; /* in it, for any reason */
} adm_second_rec_t;

/* The last seconds of a zone, by second modulo their number, up to the zone's
 * noted_second. Only changes are written: since then nothing has changed. Zone
 * lock. */
typedef struct adm_history_rec_t {
    uint64_t rejected; /* at the end of the noted second */
    uint32_t active;
    uint32_t queued;
    uint32_t limit; /* of the second of limits that was noted last */
    adm_second_rec_t seconds[ADM_HISTORY_SECONDS];
    uint16_t
        limits[ADM_HISTORY_SECONDS]; /* at the end of each; up to the zone's
                                           * limit_noted_second */
} __attribute__((aligned(ADM_CACHE_LINE))) adm_history_rec_t;

_Static_assert(sizeof(adm_history_rec_t) <= 8192,
               "ten minutes of a zone take two pages at most");

/* A zone whose limit finds itself. `state` may be any bytes: whoever reads it
 * checks it. */
typedef struct adm_auto_rec_t {
    /* Written by the parent; atomic. */
    atomic_uint
        began; /* how often a limit began to find itself here; 0: never */

    /* Written by the agent alone; atomic. */
    atomic_uint sequence; /* odd while it writes what follows, else even */
    atomic_uint of_began; /* the `began` that the state belongs to */
    atomic_uint safe;     /* how many surely fit into memory; 0: not known */
    atomic_uint state[sizeof(law_tune_t) / sizeof(unsigned)]; /* law_tune_t */
} __attribute__((aligned(ADM_CACHE_LINE))) adm_auto_rec_t;

/* What the agent wants to know of a zone whose limit is shared. */
#define ADM_WATCH_QUEUE 1U /* somebody begins to wait */
#define ADM_WATCH_BACK 2U  /* fewer permits are out than share_bound */

/* What the engine last said of a zone, to be shown. By the agent alone; nothing is
 * decided by it. `who` may be any bytes: whoever shows it ends the names. */
typedef struct adm_fleet_rec_t {
    atomic_uint state; /* adm_fleet_state_t */
    atomic_uint limit, granted, servers, reserved, wanted;
    _Atomic adm_usec_t learns_until; /* on adm_clock_of_leases() */
    _Atomic adm_usec_t who_at;       /* of `who`, on the same; 0: none yet */
    atomic_uint who_sequence;        /* odd while it is written, else even */
    atomic_uint
        who[sizeof(law_fleet_who_t) / sizeof(unsigned)]; /* law_fleet_who_t */
} __attribute__((aligned(ADM_CACHE_LINE))) adm_fleet_rec_t;

_Static_assert(sizeof(law_fleet_who_t) % sizeof(unsigned) == 0,
               "those who share a limit are copied by words");

/* Who this server is for the engine. In private memory, by the parent. */
typedef struct adm_fleet_self_t {
    unsigned char id[ADM_SECRET_LENGTH];
    char predecessor[ADM_FLEET_ID_ROOM]; /* whom it follows; "": nobody */
    int fd; /* that its processes and programs keep open; -1: none; 0: not looked for */
} adm_fleet_self_t;

/* What happened between this server and the engine, to be shown. By the agent
 * alone; atomic. */
typedef struct adm_engine_rec_t {
    atomic_uint state; /* adm_engine_state_t */
    _Atomic uint64_t counts[ADM_ENGINE_EVENTS];
    _Atomic uint64_t round_trip_usec; /* sum of ADM_ENGINE_SYNC */
    _Atomic uint64_t round_trip_max_usec;
    _Atomic uint64_t salt; /* of fleet_id, once another server had that */
} adm_engine_rec_t;

_Static_assert(sizeof(law_tune_t) % sizeof(unsigned) == 0,
               "the state of a limit is copied by words");

#endif
