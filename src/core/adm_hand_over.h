/* adm_hand_over.h - grant free permits, revoke unused grants.
 * Called by adm_zone; by adm_ticket and adm_view to settle grants.
 *
 * All functions except adm_hand_over_wake() need the zone's lock.
 * adm_hand_over.c explains leases, settling and guards.
 */
#ifndef ADM_HAND_OVER_H
#define ADM_HAND_OVER_H

#include "adm_layout.h"

/* Tickets granted in one critical section. The caller wakes them after it. */
#define ADM_WAKES_MAX 32

typedef struct adm_wake_t {
    uint32_t ticket_idx;
    uint32_t child_idx; /* 0: none */
    uint32_t bell;      /* as in the ticket */
} adm_wake_t;

typedef struct adm_wakes_t {
    uint32_t count; /* if ADM_WAKES_MAX, more might be due: call again */
    adm_wake_t granted[ADM_WAKES_MAX];
    adm_wake_t guard; /* a ticket whose dispatcher is the guard */
} adm_wakes_t;

/** Count a ticket's first permit. Its further permits, if any, are counted with
 *  its flow. */
static inline void adm_count_permit_locked(adm_zone_rec_t *zone,
                                           adm_usec_t since)
{
    if (atomic_load_explicit(&zone->active, memory_order_relaxed) == 0
        || since < zone->busy_since_usec) {
        zone->busy_since_usec = since;
    }
    adm_count_locked(&zone->active, 1);
}

/** Settle the grants whose requests have started. @return the oldest grant that
 *  can be revoked; 0 if there is none, or the list was corrupt and has been
 *  rebuilt. */
uint32_t adm_hand_over_settle_locked(adm_segment_t *segment,
                                     adm_zone_rec_t *zone, adm_usec_t now);

/** Settle the grant of one ticket, which is ACTIVE. */
void adm_hand_over_settle_ticket_locked(adm_segment_t *segment,
                                        adm_zone_rec_t *zone,
                                        uint32_t ticket_idx);

/** @return whether a ticket waits, or a grant is not settled. */
static inline bool adm_hand_over_is_due(const adm_zone_rec_t *zone)
{
    return zone->head_idx != 0 || zone->granted_idx != 0
           || atomic_load_explicit(&zone->lease_until, memory_order_relaxed);
}

/**
 * Settle grants, pass on unused permits, grant free ones, appoint a guard.
 *
 * @param wakes  filled with the tickets to wake; if it is full, call again
 */
void adm_hand_over_locked(adm_segment_t *segment, adm_zone_rec_t *zone,
                          adm_usec_t now, adm_wakes_t *wakes);

/** Wake these tickets, and the guard. Call without the lock. */
void adm_hand_over_wake(adm_segment_t *segment, const adm_wakes_t *wakes);

#endif
