/* adm_grant.c - which ticket can run, and which to grant next.
 * Called by adm_hand_over and fair_search, under the zone's lock.
 *
 * Whether a child can run a ticket is a hint (`room`): it affects the order of
 * grants, never the number of permits.
 */
#include "adm_grant.h"

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

bool adm_grant_check(adm_search_t *search, uint32_t ticket_idx)
{
    const adm_ticket_rec_t *ticket = adm_ticket_at(search->segment, ticket_idx);
    enum adm_room_t room;

    if (!ticket || !search->left--
        || atomic_load(&ticket->state) != ADM_TICKET_WAITING) {
        search->is_broken = true;
        return true;
    }
    room = adm_grant_room_for(search->segment, ticket);
    if (!search->first_idx) {
        search->first_idx = ticket_idx;
    }
    if (room == ADM_ROOM_FULL && !search->full_idx) {
        search->full_idx = ticket_idx;
    }
    if (room == ADM_ROOM_IDLE) {
        search->idle_idx = ticket_idx;
    }
    return room == ADM_ROOM_IDLE;
}

adm_winner_t adm_grant_winner(const adm_search_t *search)
{
    if (search->is_broken) {
        return (adm_winner_t){ .is_broken = true };
    }
    return (adm_winner_t){ .idx = search->idle_idx   ? search->idle_idx
                                  : search->full_idx ? search->full_idx
                                                     : search->first_idx,
                           .can_run = search->idle_idx != 0 };
}

adm_winner_t adm_grant_find_winner_locked(const adm_segment_t *segment,
                                          const adm_zone_rec_t *zone)
{
    adm_search_t search = adm_grant_start_search(segment, zone);
    uint32_t idx = zone->head_idx;

    while (idx && !adm_grant_check(&search, idx)) {
        idx = adm_ticket_at(segment, idx)->next_idx;
    }
    /* The whole list must match its count. */
    search.is_broken |= !idx && search.left;
    return adm_grant_winner(&search);
}

uint32_t adm_grant_find_guard_locked(const adm_segment_t *segment,
                                     const adm_zone_rec_t *zone,
                                     uint32_t child_idx)
{
    uint32_t left = segment->sizes.tickets; /* bounds a cyclic list */
    uint32_t idx = zone->head_idx;

    for (; left; left--) {
        const adm_ticket_rec_t *ticket = adm_ticket_at(segment, idx);

        if (!ticket
            || (ticket->child_idx != child_idx
                && adm_bell_is_parked(atomic_load(&ticket->bell))
                && adm_grant_room_for(segment, ticket) != ADM_ROOM_SILENT)) {
            return ticket ? idx : 0;
        }
        idx = ticket->next_idx;
    }
    return 0;
}
