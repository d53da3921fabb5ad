/* adm_grant.c - grants that are not settled, and the ticket to grant next.
 * Called by adm_zone and adm_pool, under the zone's lock.
 *
 * Whether a child can run a ticket is a hint (`room`): it affects the order of
 * grants, never the number of permits.
 */
#include "adm_grant.h"
#include "adm_layout.h"
#include "adm_link.h"

/* ---- the list ------------------------------------------------------------- */

void adm_grant_add_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                          uint32_t ticket_idx)
{
    adm_ticket_rec_t *ticket = adm_ticket_at(segment, ticket_idx);
    adm_ticket_rec_t *next = adm_ticket_at(segment, zone->granted_idx);

    ticket->prev_idx = 0;
    ticket->next_idx = zone->granted_idx;
    if (next) {
        next->prev_idx = ticket_idx;
    }
    zone->granted_idx = ticket_idx;
}

bool adm_grant_remove_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             uint32_t ticket_idx)
{
    return adm_link_remove_locked(segment, &zone->granted_idx, NULL,
                                  ticket_idx);
}

/* ---- which ticket can run ------------------------------------------------ */

enum adm_room_t adm_grant_room_for(const adm_segment_t *segment,
                                   const adm_ticket_rec_t *ticket)
{
    const adm_child_rec_t *child = adm_child_at(segment, ticket->child_idx);
    unsigned room = child ? atomic_load_explicit(&child->room,
                                                 memory_order_relaxed)
                          : ADM_ROOM_SILENT;

    /* A blocked ticket has its thread already. */
    if (room == ADM_ROOM_FULL
        && !adm_bell_is_parked(
            atomic_load_explicit(&ticket->bell, memory_order_relaxed))) {
        return ADM_ROOM_IDLE;
    }
    return (enum adm_room_t)room;
}

bool adm_grant_is_due(const adm_segment_t *segment,
                      const adm_ticket_rec_t *ticket, adm_usec_t now)
{
    return now >= ticket->lease_until_usec
           || adm_grant_room_for(segment, ticket) != ADM_ROOM_IDLE;
}

void adm_grant_mark_child(const adm_segment_t *segment,
                          const adm_ticket_rec_t *ticket)
{
    adm_child_rec_t *child = adm_child_at(segment, ticket->child_idx);

    if (child && adm_grant_room_for(segment, ticket) == ADM_ROOM_IDLE) {
        atomic_store(&child->room, ADM_ROOM_SILENT);
    }
}

uint32_t adm_grant_find_winner_locked(const adm_segment_t *segment,
                                      const adm_zone_rec_t *zone, bool *can_run)
{
    uint32_t left = atomic_load_explicit(&zone->queued, memory_order_relaxed);
    uint32_t idx = zone->head_idx, full_idx = 0;

    *can_run = false;
    if (left > segment->sizes.tickets) {
        return 0;
    }
    for (; idx && left; left--) {
        const adm_ticket_rec_t *ticket = adm_ticket_at(segment, idx);
        enum adm_room_t room;

        if (!ticket || atomic_load(&ticket->state) != ADM_TICKET_WAITING) {
            return 0;
        }
        room = adm_grant_room_for(segment, ticket);
        if (room == ADM_ROOM_IDLE) {
            *can_run = true;
            return idx;
        }
        if (room == ADM_ROOM_FULL && !full_idx) {
            full_idx = idx;
        }
        idx = ticket->next_idx;
    }
    if (idx || left) {
        return 0; /* the list does not match its count */
    }
    return full_idx ? full_idx : zone->head_idx;
}

const adm_ticket_rec_t *
adm_grant_find_guard_locked(const adm_segment_t *segment,
                            const adm_zone_rec_t *zone, uint32_t child_idx)
{
    uint32_t left = segment->sizes.tickets; /* bounds a cyclic list */
    uint32_t idx = zone->head_idx;

    for (; idx && left; left--) {
        const adm_ticket_rec_t *ticket = adm_ticket_at(segment, idx);

        if (!ticket) {
            break;
        }
        if (ticket->child_idx != child_idx
            && adm_bell_is_parked(atomic_load(&ticket->bell))
            && adm_grant_room_for(segment, ticket) != ADM_ROOM_SILENT) {
            return ticket;
        }
        idx = ticket->next_idx;
    }
    return NULL;
}
