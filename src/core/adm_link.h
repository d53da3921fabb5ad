/* adm_link.h - doubly linked lists of tickets.
 * Called by adm_queue and adm_grant, under the zone's lock.
 */
#ifndef ADM_LINK_H
#define ADM_LINK_H

#include "adm_layout.h"

/**
 * Remove a ticket from anywhere in the list that starts at @a head_idx.
 *
 * @param tail_idx  the end of the list; NULL if the list does not record it
 * @return false if the ticket is on no list, or the first of another list; then
 *         nothing has changed
 */
bool adm_link_remove_locked(adm_segment_t *segment, uint32_t *head_idx,
                            uint32_t *tail_idx, uint32_t ticket_idx);

#endif
