/* adm_child.h - the table of children: register them, detect their death.
 * Called by adm_round and adm_program.
 *
 * The module's functions are in adm/child.h. No function here blocks or locks a
 * zone.
 */
#ifndef ADM_CHILD_H
#define ADM_CHILD_H

#include "adm_layout.h"

/** Claim a free record for the calling process. The calling thread holds the
 *  record's `alive` lock until it exits. @return NULL if the table is full. */
adm_child_t *adm_child_claim(adm_segment_t *segment, pid_t pid,
                             uint32_t generation, apr_pool_t *pool);

/** Cancel the registration of the calling process, which is a fork of a
 *  child. */
void adm_child_forget_self(void);

/** @return whether the calling process is a registered child, and not a fork. */
bool adm_child_is_registered_here(void);

/** Note that the child can run tickets, unless it is full: one of its threads
 *  continues with a ticket. */
void adm_child_note_alive(adm_child_t *child);

/** Mark a child that has died without notice. @return its life. */
uint64_t adm_child_check(adm_segment_t *segment, uint32_t idx);

#endif
