/* adm_program.h - whether a program lives.
 * Called by adm_reap; adm_view reads tokens.
 *
 * What a request asks is in adm.h.
 */
#ifndef ADM_PROGRAM_H
#define ADM_PROGRAM_H

#include "adm_layout.h"

/** A token: instance of the segment, ticket, arrival. */
#define ADM_TOKEN_FORMAT "%016llx.%x.%llx"

/** @return whether every program of a ticket has provably ended; from then on
 *  none can start. Makes system calls.
 *
 *  @param arrival  that the caller knows: of a later owner of the ticket nothing
 *                  is changed */
bool adm_program_is_over(adm_ticket_rec_t *rec, uint64_t arrival);

#endif
