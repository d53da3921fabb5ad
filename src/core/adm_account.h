/* adm_account.h - what programs take: for people, and for limits that auto sets.
 * Called by src/agent, which samples them; by adm_ticket and adm_zone, when one has
 * ended; by auto_shm and adm_view.
 *
 * The process that started a program and waits for it is told exactly what it took. Of
 * all others the agent's last sample before their end counts.
 */
#ifndef ADM_ACCOUNT_H
#define ADM_ACCOUNT_H

#include "adm_layout.h"
#include "adm_number.h"
#include "adm_proc.h"

/** @return the program of a ticket that holds a permit; 0: none, or not known. */
uint64_t adm_account_program(const adm_ticket_rec_t *ticket);

/** Note what a ticket's program has taken so far. By the agent; by the ticket's owner
 *  when the program has ended. No lock. */
void adm_account_note(adm_segment_t *segment, uint32_t ticket_idx,
                      uint64_t program, const adm_proc_took_t *usage);

/** Note the present size of a program. By the agent; no lock.
 *  @return false: nothing was noted of this program yet. */
bool adm_account_note_size(adm_segment_t *segment, uint32_t ticket_idx,
                           uint64_t program, uint64_t size_kb);

/** @return the size of a ticket's program at the last sample; 0: it has none, or the
 *  size is not known. No lock. */
uint64_t adm_account_size_kb(const adm_segment_t *segment, uint32_t ticket_idx);

/** @return what a program has for each of its @a cost permits; a torn segment may have 0. */
static inline uint64_t adm_account_part(uint64_t kb, uint32_t cost)
{
    return kb / adm_greater(cost, 1);
}

/** Count the program of a ticket that ends. Zone lock. */
void adm_account_end_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                            uint32_t ticket_idx);

/** By the agent: so much memory is available. 0: not known. */
void adm_account_note_available(adm_child_t *self, uint64_t kb);

/** @return how much memory is available in KiB; 0: not known, or the agent is not at
 *  work. */
uint64_t adm_account_available(const adm_segment_t *segment, adm_usec_t now);

#endif
