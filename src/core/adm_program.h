/* adm_program.h - whether a ticket's program lives.
 * Called by adm_round, adm_ticket and adm_successor_take.
 *
 * The module's functions are in adm/ticket.h.
 */
#ifndef ADM_PROGRAM_H
#define ADM_PROGRAM_H

#include "adm_layout.h"

/** @return whether the ticket still has its record. Otherwise its permit has
 *  moved on (adm_successor.c), and the record is free or another request's. The
 *  ticket must have been in use. */
bool adm_program_is_of(const adm_ticket_t *ticket);

/** @return the ticket with this name, its number and its arrival, without a
 *  check that the ticket still has its record; NULL: none. */
adm_ticket_rec_t *adm_ticket_named(const adm_segment_t *segment,
                                   const char *name, uint32_t *idx,
                                   uint64_t *arrival);

/**
 * @return whether all programs of a ticket have provably ended; from then on
 *         none can start. Makes system calls.
 *
 * @param arrival  the ticket's: a later ticket in the same record is not
 *                 changed
 */
bool adm_program_is_over(adm_ticket_rec_t *rec, uint64_t arrival);

#endif
