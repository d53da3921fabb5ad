/* adm_layout_who.h - private: what is known of a request beside its ticket.
 * Included by adm_layout.h.
 */
#ifndef ADM_LAYOUT_WHO_H
#define ADM_LAYOUT_WHO_H

#include <stdatomic.h>
#include <stdint.h>

#include "adm/who.h"

/* Who has the ticket of the same number, for whoever looks: adm_who.c. Written by
 * the ticket's owner without a lock. */
typedef struct adm_who_rec_t {
    _Atomic uint64_t mark; /* the ticket's arrival and one, once all is written;
                            * 0: being written */
    adm_who_t who;

    /* adm_sent_word() of the ticket's request, once it has been sent to a program of
     * this machine. By the ticket's owner, without a lock. */
    _Atomic uint64_t sent;

    /* What the ticket's program had taken when the agent last sampled it, without a
     * lock; at its end what it took in all, by the ticket's owner: adm_account.c. */
    _Atomic uint64_t taken_of; /* adm_program_word() of the program, once all is
                                * written; 0: being written */
    _Atomic uint64_t size_kb; /* resident at the last sample; 0: it has ended */
    _Atomic uint64_t peak_kb;
    _Atomic uint64_t processor_usec;
    _Atomic uint64_t faults;
} adm_who_rec_t;

/* The low bits of the ticket's arrival, and the virtual host that has sent its
 * request. */
static inline uint64_t adm_sent_word(uint64_t arrival, uint32_t by)
{
    return (arrival & UINT32_MAX) << 32 | by;
}

#endif
