/* adm_program.h - whether a program lives.
 * Called by adm_reap, adm_ticket and adm_inherit.
 *
 * What a request asks is in adm.h.
 */
#ifndef ADM_PROGRAM_H
#define ADM_PROGRAM_H

#include "adm_layout.h"
#include "adm_proc.h"

/** @return whether the ticket's record is still its own: the permit may have moved on
 *  to another request. Of a ticket that was in use. */
bool adm_program_is_of(const adm_ticket_t *ticket);

/** @return whether every program of a ticket has provably ended; from then on
 *  none can start. Makes system calls.
 *
 *  @param arrival  that the caller knows: of a later owner of the ticket nothing
 *                  is changed */
bool adm_program_is_over(adm_ticket_rec_t *rec, uint64_t arrival);

/** @return whether a program of the ticket of this arrival is known to have ended, and
 *  what it took is in @a usage: one that the calling process has started. At most one
 *  system call. */
bool adm_program_took(uint64_t program, uint64_t arrival,
                      adm_proc_took_t *usage);

#endif
