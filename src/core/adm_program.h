/* adm_program.h - whether a program lives.
 * Called by adm_reap.
 *
 * What a request asks is in adm.h.
 */
#ifndef ADM_PROGRAM_H
#define ADM_PROGRAM_H

#include "adm_layout.h"

/** What a reaper has to know of an orphaned ticket. */
typedef struct adm_orphan_t {
    uint32_t zone_idx;
    uint32_t ticket_idx;
    uint64_t arrival;
    adm_usec_t since; /* it ran since */
    adm_usec_t until; /* it is given up then */
    unsigned programs;
    pid_t pid; /* of the last one; 0: not known */
} adm_orphan_t;

/** Look for the programs of an orphaned ticket. Makes system calls. @return
 *  false if there is none now. */
bool adm_program_exists(const adm_segment_t *segment,
                        const adm_orphan_t *orphan);

#endif
