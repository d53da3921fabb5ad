/* adm_link.c - doubly linked lists of tickets, or of their asks.
 * Called by adm_zone, adm_hand_over, adm_pool and fair_flow, under the zone's
 * lock.
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

static bool arrived_before(const adm_list_t *list, uint32_t idx,
                           uint64_t arrival)
{
    const adm_ticket_rec_t *ticket = adm_ticket_at(list->segment, idx);

    return ticket && ticket->arrival < arrival;
}

/* @return the record after which a list inserts @a idx; 0: as the first. The
 * end is checked first, because most records are the latest. Otherwise searches
 * from the head, because a ticket that lost its grant was among the first. */
static uint32_t prev_of(const adm_list_t *list, uint32_t idx)
{
    uint64_t arrival = adm_ticket_at(list->segment, idx)->arrival;
    uint32_t left = list->segment->sizes.tickets; /* bounds a cyclic list */
    uint32_t prev_idx = 0, next_idx = *list->head_idx;
    uint32_t tail_idx = list->tail_idx ? *list->tail_idx : 0;

    if (!list->tail_idx || arrived_before(list, tail_idx, arrival)) {
        return tail_idx;
    }
    for (; left && arrived_before(list, next_idx, arrival); left--) {
        prev_idx = next_idx;
        next_idx = links_at(list, next_idx)[NEXT];
    }
    return prev_idx;
}

void adm_link_insert_locked(adm_list_t list, uint32_t idx)
{
    uint32_t prev_idx = prev_of(&list, idx);
    uint32_t *links = links_at(&list, idx);
    uint32_t *link = prev_idx ? &links_at(&list, prev_idx)[NEXT]
                              : list.head_idx;
    uint32_t *next = links_at(&list, *link);

    links[PREV] = prev_idx;
    links[NEXT] = *link;
    *link = idx;
    if (next) {
        next[PREV] = idx;
    }
    else if (list.tail_idx) {
        *list.tail_idx = idx;
    }
}

bool adm_link_remove_locked(adm_list_t list, uint32_t idx)
{
    uint32_t *links = links_at(&list, idx);
    uint32_t *prev = links_at(&list, links[PREV]);
    uint32_t *next = links_at(&list, links[NEXT]);

    if (prev) {
        prev[NEXT] = links[NEXT];
    }
    else if (*list.head_idx == idx) {
        *list.head_idx = links[NEXT];
    }
    else {
        return false;
    }
    if (next) {
        next[PREV] = links[PREV];
    }
    else if (list.tail_idx) {
        *list.tail_idx = links[PREV];
    }
    links[PREV] = 0;
    links[NEXT] = 0;
    return true;
}
