/* adm_account.h - what programs use: CPU time, memory, page faults.
 * Called by src/agent, which samples them; by adm_ticket and adm_zone, when a
 * program has ended; by auto_shm and adm_view.
 *
 * The process that started a program and waits for it gets the exact numbers.
 * For all other programs the agent's last sample counts.
 */
#ifndef ADM_ACCOUNT_H
#define ADM_ACCOUNT_H

#include "adm_layout.h"
#include "adm_proc.h"

/** @return the program of a ticket that holds a permit, an adm_program_word();
 *  0: none, or unknown. */
uint64_t adm_account_program(const adm_ticket_rec_t *ticket);

/** Record what a ticket's program has used so far. Only for the agent, and for
 *  the ticket's owner when the program has ended. No lock. */
void adm_account_note(adm_segment_t *segment, uint32_t ticket_idx,
                      uint64_t program, const adm_proc_usage_t *usage);

/** Record the current size of a program, in KiB. Only for the agent. No lock.
 *  @return false: nothing was recorded of this program yet. */
bool adm_account_note_size(adm_segment_t *segment, uint32_t ticket_idx,
                           uint64_t program, uint64_t size_kb);

/** @return the size of a ticket's program at the last sample, in KiB; 0: none,
 *  or unknown. No lock. */
uint64_t adm_account_size_kb(const adm_segment_t *segment, uint32_t ticket_idx);

/** @return the memory of a program per permit. @a cost is 0 only if shared
 *  memory is corrupt. */
static inline uint64_t adm_account_part(uint64_t kb, uint32_t cost)
{
    return kb / adm_greater(cost, 1);
}

/** Count the program of a ticket that ends. Needs the zone's lock. */
void adm_account_end_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                            uint32_t ticket_idx);

/** Record the available memory, in KiB; 0: unknown. Only for the agent. */
void adm_account_note_available(adm_child_t *self, uint64_t kb);

/** @return the available memory in KiB; 0: unknown, or the agent is not at
 *  work. */
uint64_t adm_account_available(const adm_segment_t *segment, adm_usec_t now);

#endif
