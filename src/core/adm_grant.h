/* adm_grant.h - permits handed over and not begun yet.
 * Called by adm_zone and adm_pool, under the zone's lock.
 *
 * The list holds each ticket GRANTED, and those ACTIVE whose begin has not been
 * counted: the winner begins without the lock.
 */
#ifndef ADM_GRANT_H
#define ADM_GRANT_H

#include "adm_layout.h"

/** Put a ticket that is on no list on the list of grants. */
void adm_grant_add_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                          uint32_t ticket_idx);

/** Take a ticket off the list. @return false if it is not on it. */
bool adm_grant_remove_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                             uint32_t ticket_idx);

/** @return whether, as far as is known, the child of a ticket can run it. */
enum adm_room_t adm_grant_room_for(const adm_segment_t *segment,
                                   const adm_ticket_rec_t *ticket);

/** @return whether the permit of a ticket GRANTED may be passed on: its lease is
 *  over, or its child says that it cannot begin. */
bool adm_grant_is_due(const adm_segment_t *segment,
                      const adm_ticket_rec_t *ticket, adm_usec_t now);

/** The permit of a ticket is due to be passed on: its child is silent, unless it
 *  has said itself why the ticket cannot begin. */
void adm_grant_mark_child(const adm_segment_t *segment,
                          const adm_ticket_rec_t *ticket);

/** @return the waiter to be granted next, 0 if the queue is broken: the first
 *  that can run, else the first of a child that is full, else the first.
 *  @a can_run: whether, as far as is known, it can. The queue is not empty. */
uint32_t adm_grant_find_winner_locked(const adm_segment_t *segment,
                                      const adm_zone_rec_t *zone,
                                      bool *can_run);

/** @return the first parked waiter of another child than @a child_idx that is
 *  not silent, to look after what that child was granted; NULL: none. */
const adm_ticket_rec_t *
adm_grant_find_guard_locked(const adm_segment_t *segment,
                            const adm_zone_rec_t *zone, uint32_t child_idx);

#endif
