/* fair_layout.h - private: shared memory of a zone with a fair queue.
 * Included by adm_layout.h.
 *
 * Read docs/dev/shared-memory.md first, "Keys, flows and rings".
 */
#ifndef FAIR_LAYOUT_H
#define FAIR_LAYOUT_H

#include <stdint.h>

#include "core/adm/ticket.h"

#define FAIR_FLOW_SETS 128
#define FAIR_FLOW_WAYS 8
#define ADM_FLOWS (FAIR_FLOW_SETS * FAIR_FLOW_WAYS)
#define ADM_COST_SIZES 16 /* 1, 2 to 3, 4 to 7 permits, and so on */
#define FAIR_FLOW_LEVELS \
    64 /* permits held; the last level includes all above */

/* What a request asks for, next to the ticket of the same number. Filled under
 * the zone lock, before the ticket's state is stored; read-only until the
 * ticket is FREE, except for the caches and for `cost`, which a grant sets.
 * Never read in a zone without a flow table. */
typedef struct adm_ask_rec_t {
    uint64_t arrival;  /* of its ticket; otherwise: of an earlier one */
    uint64_t key;      /* hash; 0: none */
    uint32_t prev_idx; /* cache: links of the flow's queue */
    uint32_t next_idx; /* cache */
    uint16_t flow_idx; /* cache: 1..ADM_FLOWS */
    uint16_t asked;    /* permits requested */
    /* Permits that the ticket holds: fewer than `asked` if the limit was lower
     * when it got them. No meaning while it waits. */
    uint16_t cost;
    uint16_t max;            /* permits that the key may hold; 0: no maximum */
    uint8_t priority;        /* adm_priority_t */
    char name[ADM_KEY_NAME]; /* of the key, for display; can be truncated */
} adm_ask_rec_t;

_Static_assert(sizeof(adm_ask_rec_t) == 64, "an ask is one cache line");

/* Tickets that wait with one key and one priority. */
typedef struct fair_flow_queue_rec_t {
    uint32_t head_idx; /* tickets by arrival, linked in their asks */
    uint32_t tail_idx;
    uint16_t prev_idx; /* links of the ring */
    uint16_t next_idx;
} fair_flow_queue_rec_t;

/* State of one key. Cache, zone lock. */
typedef struct fair_flow_rec_t {
    uint64_t key;
    uint32_t held;    /* permits of its tickets */
    uint32_t waiting; /* tickets WAITING, of all priorities */
    fair_flow_queue_rec_t queues[ADM_PRIORITIES];
    uint16_t rings[ADM_PRIORITIES]; /* ring number plus 1; 0: in no ring */
} __attribute__((aligned(64))) fair_flow_rec_t;

_Static_assert(sizeof(fair_flow_rec_t) == 64, "a flow is one cache line");

/* Kinds of rings. UNSEEN: flows whose key neither held permits nor waited when
 * the first ticket came. Each ring is a FIFO queue of flows. */
enum { FAIR_RING_UNSEEN, FAIR_RING_OTHERS, FAIR_RING_KINDS };

#define FAIR_FLOW_RINGS (ADM_PRIORITIES * FAIR_RING_KINDS * FAIR_FLOW_LEVELS)

typedef struct fair_ring_rec_t {
    uint16_t first_idx; /* flows */
    uint16_t last_idx;
} fair_ring_rec_t;

/* Waiting tickets of one priority and a similar cost. The size classes tell how
 * many permits they would take of any limit. */
typedef struct adm_waiting_rec_t {
    uint32_t tickets;
    uint32_t cost; /* permits that they need */
} adm_waiting_rec_t;

/* All flows of one zone. Cache, under the lock of the zone that owns it. */
typedef struct adm_flow_table_rec_t {
    /* bit per level: whether the ring has flows */
    uint64_t levels[ADM_PRIORITIES][FAIR_RING_KINDS];
    uint64_t others_next[ADM_PRIORITIES]; /* bit per level: OTHERS have the next
                                           * turn */
    uint64_t passes[ADM_PRIORITIES];      /* virtual times of the stride
                                           * scheduler */
    adm_waiting_rec_t waiting[ADM_PRIORITIES][ADM_COST_SIZES];
    uint32_t waiting_flows; /* flows with waiting tickets */
    uint32_t holding;       /* tickets that hold permits */
    uint32_t is_touched;    /* 0: all zeros, so there is nothing to clear */
    fair_ring_rec_t rings[FAIR_FLOW_RINGS];
    fair_flow_rec_t flows[ADM_FLOWS];
    char names[ADM_FLOWS][ADM_KEY_NAME]; /* for display */
} __attribute__((aligned(64))) adm_flow_table_rec_t;

#endif
