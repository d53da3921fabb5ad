/* adm/auto.h - limits that find themselves: what is shown of them.
 * Included by adm.h, which is what others include.
 */
#ifndef ADM_PUBLIC_AUTO_H
#define ADM_PUBLIC_AUTO_H

#include <stddef.h>

#include "adm/base.h"

/** What is known of a limit that finds itself. Numbers that are not known are 0. */
typedef struct adm_auto_t {
    bool is_known;           /* the agent has looked at this zone */
    uint32_t reason;         /* for adm_auto_reason() */
    uint32_t memory_cap;     /* programs that memory has room for */
    uint32_t trial;          /* the limit that is tried; 0: none is */
    uint32_t brakes;         /* times that memory ran out */
    uint32_t busy_permille;  /* of the processors */
    uint64_t since_sec;      /* how long the limit is what it is */
    uint64_t program_mb;     /* what the next program is expected to need */
    uint64_t largest_mb;     /* the largest seen, which fades */
    uint64_t budget_mb;      /* what all programs of the zone may need */
    uint64_t requests_1000s; /* served in 1000 s at the limit that is held */
} adm_auto_t;

/** Copy it. No lock; reads what the agent writes, and believes none of it. */
void adm_auto_view(const adm_segment_t *segment, adm_zone_t zone,
                   adm_usec_t now, adm_auto_t *shown);

/** @return the word for why the limit is what it is. */
const char *adm_auto_reason(const adm_auto_t *shown);

/** Long enough for every sentence. */
#define ADM_AUTO_SENTENCE 200

/** Say in a sentence why the limit is what it is, without a full stop. */
void adm_auto_sentence(const adm_auto_t *shown, uint32_t limit,
                       char text[ADM_AUTO_SENTENCE]);

#endif
