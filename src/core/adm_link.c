/* adm_link.c - doubly linked lists of tickets, or of their asks.
 * Called by adm_queue, adm_grant and fair_flow, under the zone's lock.
 */
#include "adm_link.h"

_Static_assert(sizeof(adm_ticket_rec_t) == ADM_CACHE_LINE
                   && sizeof(adm_ask_rec_t) == ADM_CACHE_LINE,
               "records with links are cache lines");

/* Index of each link. */
enum { PREV, NEXT };

/* @return the links of a record; NULL if there is none. */
static uint32_t *links_at(const adm_list_t *list, uint32_t idx)
{
    return idx - 1 < list->segment->sizes.tickets ? (
               void *)((char *)list->links + (size_t)(idx - 1) * ADM_CACHE_LINE)
                                                  : NULL;
}

void adm_link_insert_locked(const adm_list_t *list, uint32_t idx,
                            uint32_t prev_idx)
{
    uint32_t *links = links_at(list, idx);
    uint32_t *prev = links_at(list, prev_idx);
    uint32_t *link = prev ? &prev[NEXT] : list->head_idx;
    uint32_t *next = links_at(list, *link);

    links[PREV] = prev_idx;
    links[NEXT] = *link;
    *link = idx;
    if (next) {
        next[PREV] = idx;
    }
    else if (list->tail_idx) {
        *list->tail_idx = idx;
    }
}

uint32_t adm_link_before_locked(const adm_list_t *list, uint64_t arrival)
{
    uint32_t left = list->segment->sizes.tickets; /* bounds a cyclic list */
    uint32_t prev_idx = 0, idx = *list->head_idx;

    for (; left && links_at(list, idx)
           && adm_ticket_at(list->segment, idx)->arrival < arrival;
         left--) {
        prev_idx = idx;
        idx = links_at(list, idx)[NEXT];
    }
    return prev_idx;
}

bool adm_link_remove_locked(const adm_list_t *list, uint32_t idx)
{
    uint32_t *links = links_at(list, idx);
    uint32_t *prev = links_at(list, links[PREV]);
    uint32_t *next = links_at(list, links[NEXT]);

    if (prev) {
        prev[NEXT] = links[NEXT];
    }
    else if (*list->head_idx == idx) {
        *list->head_idx = links[NEXT];
    }
    else {
        return false;
    }
    if (next) {
        next[PREV] = links[PREV];
    }
    else if (list->tail_idx) {
        *list->tail_idx = links[PREV];
    }
    links[PREV] = 0;
    links[NEXT] = 0;
    return true;
}
