/* adm_layout_zone.h - private: what a zone has in the segment beside its record.
 * Included by adm_layout.h.
 */
#ifndef ADM_LAYOUT_ZONE_H
#define ADM_LAYOUT_ZONE_H

#include <stdatomic.h>

#include "adm.h"

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

#endif
