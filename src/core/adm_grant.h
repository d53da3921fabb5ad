/* adm_grant.h - which ticket can run, and which to grant next.
 * Called by adm_hand_over and fair_search, under the zone's lock.
 */
#ifndef ADM_GRANT_H
#define ADM_GRANT_H

#include "adm_layout.h"

/** @return the room of the ticket's child. ADM_ROOM_IDLE instead of FULL for a
 *  blocked ticket, which has its thread; ADM_ROOM_SILENT if there is no
 *  child. */
enum adm_room_t adm_grant_room_for(const adm_segment_t *segment,
                                   const adm_ticket_rec_t *ticket);

/** @return whether a grant can be revoked: its lease has expired, or its child
 *  has reported that it cannot run the ticket. */
bool adm_grant_is_due(const adm_segment_t *segment,
                      const adm_ticket_rec_t *ticket, adm_usec_t now);

/** Mark the child of a grant that is about to be revoked as ADM_ROOM_SILENT,
 *  unless the child has reported that it cannot run the ticket. */
void adm_grant_mark_child(const adm_segment_t *segment,
                          const adm_ticket_rec_t *ticket);

/** The ticket to grant next: the first that can run, otherwise the first of a
 *  full child, otherwise the first. */
typedef struct adm_winner_t {
    uint32_t idx;   /* 0: no ticket may have a permit, or a list is corrupt */
    bool can_run;   /* as far as is known */
    bool is_broken; /* a list is corrupt */
} adm_winner_t;

/** State of a search for the ticket to grant next. */
typedef struct adm_search_t {
    const adm_segment_t *segment;
    uint32_t left; /* number of checks left: ends a search in a cyclic list */
    uint32_t idle_idx;
    uint32_t full_idx; /* first ticket of each kind; 0: none */
    uint32_t first_idx;
    bool is_broken;
} adm_search_t;

static inline adm_search_t adm_grant_start_search(const adm_segment_t *segment,
                                                  const adm_zone_rec_t *zone)
{
    uint32_t queued = atomic_load_explicit(&zone->queued, memory_order_relaxed);

    return (adm_search_t){ .segment = segment,
                           .left = queued <= segment->sizes.tickets ? queued
                                                                    : 0 };
}

/** Check one ticket. @return whether the search is over. */
bool adm_grant_check(adm_search_t *search, uint32_t ticket_idx);

/** @return the result of a search. */
adm_winner_t adm_grant_winner(const adm_search_t *search);

/** Search in the order of arrival. The queue must not be empty. */
adm_winner_t adm_grant_find_winner_locked(const adm_segment_t *segment,
                                          const adm_zone_rec_t *zone);

/** @return the first parked ticket of a child other than @a child_idx that is
 *  not silent: the guard of that child's grants; 0: none. */
uint32_t adm_grant_find_guard_locked(const adm_segment_t *segment,
                                     const adm_zone_rec_t *zone,
                                     uint32_t child_idx);

#endif
