/* adm_account.h - what programs take, for people.
 * Called by the agent, which looks; by adm_ticket, when one has ended; by adm_view.
 *
 * Whoever started a program and waits for it is told exactly what it took. Of all
 * others the agent's last look before their end has to do.
 */
#ifndef ADM_ACCOUNT_H
#define ADM_ACCOUNT_H

#include "adm_layout.h"
#include "adm_proc.h"

/**
 * Look at programs that run, and keep what each has taken so far beside its
 * ticket. By the agent alone; no lock, six system calls a program.
 *
 * @param cursor  a ticket's number from which to go on; 1 at first
 * @param most    look at no more
 * @return at how many it has looked.
 */
uint32_t adm_account_look(adm_child_t *self, uint32_t *cursor, uint32_t most);

/** @return whether it is known what a ticket's program had taken when the agent saw
 *  it last. No lock. */
bool adm_account_took(const adm_ticket_t *ticket, adm_proc_took_t *usage);

/** By the agent: so much memory is available. 0: not known. */
void adm_account_note_available(adm_child_t *self, uint64_t kb);

/** @return how much memory is available in KiB; 0: not known, or the agent is not at
 *  work. */
uint64_t adm_account_available(const adm_segment_t *segment, adm_usec_t now);

#endif
