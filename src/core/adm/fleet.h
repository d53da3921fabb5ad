/* adm/fleet.h - one limit over many servers: what is shown of it.
 * Included by adm.h, which is what others include.
 */
#ifndef ADM_PUBLIC_FLEET_H
#define ADM_PUBLIC_FLEET_H

#include "adm/base.h"

/** What holds of a zone's share when its lease is over. */
typedef enum adm_fallback_t {
    ADM_FALLBACK_NONE,   /* the limit is not shared */
    ADM_FALLBACK_KEEP,   /* the share as it was */
    ADM_FALLBACK_REJECT, /* nothing */
    ADM_FALLBACK_OPEN    /* the zone's other limits alone */
} adm_fallback_t;

/** How long a server that begins waits for its first share. */
#define ADM_FLEET_FIRST_USEC (3 * ADM_USEC_PER_SEC)

typedef enum adm_fleet_state_t {
    ADM_FLEET_OFF,      /* the limit is not shared */
    ADM_FLEET_LEASED,   /* the share holds */
    ADM_FLEET_LEARNING, /* the same, and the engine learns who has what */
    ADM_FLEET_FALLBACK  /* the lease is over */
} adm_fleet_state_t;

/** @return its word. */
const char *adm_fleet_state_name(adm_fleet_state_t state);

/** What the engine last said, and of the lease. */
typedef struct adm_fleet_t {
    adm_fleet_state_t state;
    uint32_t limit;   /* the least that any server states; 0: not known */
    uint32_t share;   /* of this server */
    uint32_t granted; /* the same and what it still has to give back */
    uint32_t servers;
    uint32_t reserved;        /* of all servers */
    uint32_t wanted;          /* by all servers */
    adm_usec_t lease_usec;    /* that is left */
    adm_usec_t learning_usec; /* that is left */
} adm_fleet_t;

/** Copy it. No lock; nothing of it is believed. */
void adm_fleet_view(const adm_segment_t *segment, adm_zone_t zone,
                    adm_fleet_t *shown);

#endif
