/* adm_layout_zone.h - private: a zone's history in the segment.
 * Included by adm_layout.h.
 */
#ifndef ADM_LAYOUT_ZONE_H
#define ADM_LAYOUT_ZONE_H

#include <stdatomic.h>

#include "adm.h"

#define ADM_CACHE_LINE 64

/* One second of a zone. Written under the zone lock. Limits and queue lengths
 * are below 2^16; larger numbers, from corrupt shared memory, become 2^16 -
 * 1. */
typedef struct adm_second_rec_t {
    uint16_t active_max; /* maximum in it */
    uint16_t queued_max;
    uint32_t rejected; /* in it, for any reason */
} adm_second_rec_t;

/* The last seconds of a zone: ring buffers, by second modulo their length, up
 * to the zone's noted_second. Only changes are written: since that second
 * nothing has changed. Written under the zone lock. */
typedef struct adm_history_rec_t {
    uint64_t rejected; /* at the end of the noted second */
    uint32_t active;
    uint32_t queued;
    uint32_t limit; /* at limit_noted_second */
    adm_second_rec_t seconds[ADM_HISTORY_SECONDS];
    /* Limit at the end of each second, up to the zone's limit_noted_second. */
    uint16_t limits[ADM_HISTORY_SECONDS];
} __attribute__((aligned(ADM_CACHE_LINE))) adm_history_rec_t;

_Static_assert(sizeof(adm_history_rec_t) <= 8192,
               "ten minutes of a zone take two pages at most");

#endif
