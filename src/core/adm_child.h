/* adm_child.h - who is alive.
 * Called by adm_round, adm_reap and adm_program.
 *
 * The rest of it is in adm.h. No function here blocks or takes a zone's lock.
 */
#ifndef ADM_CHILD_H
#define ADM_CHILD_H

#include "adm_layout.h"

/** Take a free record for the calling process, with its `alive` lock held by the
 *  calling thread. @return NULL if the table is full. */
adm_child_t *adm_child_claim(adm_segment_t *segment, pid_t pid,
                             uint32_t generation, apr_pool_t *pool);

/** The calling process is a fork: it is nobody's child any more. */
void adm_child_forget_self(void);

/** @return whether the calling process is a registered child, and not a fork. */
bool adm_child_is_registered_here(void);

/** The calling thread goes on with a ticket, so the child is not silent. */
void adm_child_note_alive(adm_child_t *child);

/** Mark those dead that had this pid before the calling process. */
void adm_child_mark_namesakes(adm_segment_t *segment, pid_t pid);

/** Mark the children that died without anybody's notice, but @a own_idx. */
void adm_child_mark_the_dead(adm_segment_t *segment, uint32_t own_idx);

#endif
