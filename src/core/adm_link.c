/* adm_link.c - doubly linked lists of tickets.
 * Called by adm_queue and adm_grant, under the zone's lock.
 */
#include "adm_link.h"

bool adm_link_remove_locked(adm_segment_t *segment, uint32_t *head_idx,
                            uint32_t *tail_idx, uint32_t ticket_idx)
{
    adm_ticket_rec_t *ticket = adm_ticket_at(segment, ticket_idx);
    adm_ticket_rec_t *prev = adm_ticket_at(segment, ticket->prev_idx);
    adm_ticket_rec_t *next = adm_ticket_at(segment, ticket->next_idx);

    if (prev) {
        prev->next_idx = ticket->next_idx;
    }
    else if (*head_idx == ticket_idx) {
        *head_idx = ticket->next_idx;
    }
    else {
        return false;
    }
    if (next) {
        next->prev_idx = ticket->prev_idx;
    }
    else if (tail_idx) {
        *tail_idx = ticket->prev_idx;
    }
    ticket->prev_idx = 0;
    ticket->next_idx = 0;
    return true;
}
