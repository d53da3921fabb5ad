/* adm_link.h - tickets in a list that is linked both ways.
 * Called by adm_queue and adm_grant, under the zone's lock.
 */
#ifndef ADM_LINK_H
#define ADM_LINK_H

#include "adm_layout.h"

/**
 * Take a ticket off the list that begins at @a head_idx, wherever in it.
 *
 * @param tail_idx  the end of the list, or NULL where nobody notes it
 * @return false if the ticket is on no list, or first on another one: then
 *         nothing was changed.
 */
bool adm_link_remove_locked(adm_segment_t *segment, uint32_t *head_idx,
                            uint32_t *tail_idx, uint32_t ticket_idx);

#endif
