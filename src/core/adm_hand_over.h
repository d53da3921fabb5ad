/* adm_hand_over.h - who gets a free permit, and who loses one that it does not use.
 * Called by adm_zone, and by adm_ticket and adm_view to settle what has begun.
 */
#ifndef ADM_HAND_OVER_H
#define ADM_HAND_OVER_H

#include "adm_layout.h"

/* Tickets granted in one critical section, to be woken after it. */
#define ADM_WAKES_MAX 32

typedef struct adm_wakes_t {
    uint32_t count; /* ADM_WAKES_MAX: there may be more to grant */
    struct {
        uint32_t ticket_idx;
        uint32_t child_idx;
        uint32_t bell; /* as in the ticket */
    } granted[ADM_WAKES_MAX];
    uint32_t guard_child_idx; /* 0: none */
    uint32_t guard_bell;
} adm_wakes_t;

/** Count a ticket that holds a permit from now on. If it holds several, the others
 *  are counted with its flow. */
static inline void adm_count_permit_locked(adm_zone_rec_t *zone,
                                           adm_usec_t since)
{
    if (atomic_load_explicit(&zone->active, memory_order_relaxed) == 0
        || since < zone->busy_since_usec) {
        zone->busy_since_usec = since;
    }
    adm_count_locked(&zone->active, 1);
}

/** Count what has begun without the lock. @return a ticket GRANTED whose permit
 *  may be passed on, 0 if there is none or the list is broken. */
uint32_t adm_hand_over_settle_locked(adm_segment_t *segment,
                                     adm_zone_rec_t *zone, adm_usec_t now);

/** The same for one ticket, which is ACTIVE. */
void adm_hand_over_settle_ticket_locked(adm_segment_t *segment,
                                        adm_zone_rec_t *zone,
                                        uint32_t ticket_idx);

/** @return whether there is anybody to hand over to, or to settle. */
static inline bool adm_hand_over_is_due(const adm_zone_rec_t *zone)
{
    return zone->head_idx != 0 || zone->granted_idx != 0
           || atomic_load_explicit(&zone->lease_until, memory_order_relaxed);
}

/** Settle, pass on permits that are not used, hand out those that are free, choose
 *  a guard. @a wakes: who is to be woken; if it is full there may be more. */
void adm_hand_over_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                          adm_usec_t now, adm_wakes_t *wakes);

/** Wake them. Without the lock. */
void adm_hand_over_wake(adm_segment_t *segment, const adm_wakes_t *wakes);

#endif
