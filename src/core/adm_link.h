/* adm_link.h - doubly linked lists of tickets, or of their asks.
 * Called by adm_queue, adm_grant and fair_flow, under the zone's lock.
 */
#ifndef ADM_LINK_H
#define ADM_LINK_H

#include "adm_layout.h"

typedef struct adm_list_t {
    const adm_segment_t *segment;
    void *links; /* of record 1: prev_idx, followed by next_idx */
    uint32_t *head_idx;
    uint32_t *tail_idx; /* NULL: the list does not record its end */
} adm_list_t;

/** Insert a record that is on no list after @a prev_idx; 0: as the first. */
void adm_link_insert_locked(const adm_list_t *list, uint32_t idx,
                            uint32_t prev_idx);

/** @return the last record of a list sorted by arrival that arrived before
 *  @a arrival; 0: none. */
uint32_t adm_link_before_locked(const adm_list_t *list, uint64_t arrival);

/** Remove a record from anywhere in the list. @return false if it is on no
 *  list, or the first of another list; then nothing has changed. */
bool adm_link_remove_locked(const adm_list_t *list, uint32_t idx);

#endif
