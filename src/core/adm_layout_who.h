/* adm_layout_who.h - private: what is recorded of a request next to its ticket.
 * Included by adm_layout.h.
 */
#ifndef ADM_LAYOUT_WHO_H
#define ADM_LAYOUT_WHO_H

#include <stdatomic.h>
#include <stdint.h>

#include "adm/view.h"

/* Description of the request whose ticket has the same number, for display
 * (adm_who.c). Written by the ticket's owner; no lock. */
typedef struct adm_who_rec_t {
    _Atomic uint64_t mark; /* the ticket's arrival and 1; 0 while being
                            * written */
    adm_who_t who;

    /* adm_sent_word(), if the request was sent to a program of this machine.
     * Written by the ticket's owner; no lock. */
    _Atomic uint64_t sent;

    /* What the ticket's program has used (adm_account.c). Written by the agent
     * at each sample, and by the ticket's owner when the program has ended; no
     * lock. */
    _Atomic uint64_t taken_of; /* adm_program_word() of the program; 0 while
                                * being written */
    _Atomic uint64_t size_kb;  /* resident; 0: it has ended */
    _Atomic uint64_t peak_kb;
    _Atomic uint64_t processor_usec;
    _Atomic uint64_t faults;
} adm_who_rec_t;

/* The low bits of the ticket's arrival, and the virtual host that sent its
 * request. */
static inline uint64_t adm_sent_word(uint64_t arrival, uint32_t by)
{
    return (arrival & UINT32_MAX) << 32 | by;
}

#endif
