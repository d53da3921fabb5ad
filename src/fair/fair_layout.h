/* fair_layout.h - private: what a zone with keys has in the segment.
 * Included by adm_layout.h.
 *
 * Read docs/dev/shared-memory.md first, "Keys, flows and rings".
 */
#ifndef FAIR_LAYOUT_H
#define FAIR_LAYOUT_H

#include <stdint.h>

#include "core/adm/ticket.h"

#define ADM_FLOW_SETS 128
#define ADM_FLOW_WAYS 8
#define ADM_FLOWS (ADM_FLOW_SETS * ADM_FLOW_WAYS)
#define ADM_COST_SIZES 16  /* 1, 2 to 3, 4 to 7 permits, and so on */
#define ADM_FLOW_LEVELS 64 /* permits held; the last level has all from there */

/* What a request asked for, beside the ticket of the same number. Filled under
 * the zone lock, before the store of its ticket's state that makes it count;
 * read-only until the ticket is FREE, but for the caches and for `cost`, which a
 * grant may lower. Of a zone without a flow table it is never read. */
typedef struct adm_ask_rec_t {
    uint64_t arrival;  /* of its ticket; another one: it is an earlier one's */
    uint64_t key;      /* hash; 0: none */
    uint32_t prev_idx; /* cache: tickets in the queue of its flow */
    uint32_t next_idx; /* cache */
    uint16_t flow_idx; /* cache: 1..ADM_FLOWS */
    uint16_t asked;    /* permits it asks for */
    uint16_t
        cost; /* permits it takes: fewer where the limit is lower, as long as
                        * it holds them */
    uint16_t max;            /* permits that its key may hold; 0: any number */
    uint8_t priority;        /* adm_priority_t */
    char name[ADM_KEY_NAME]; /* of its key, to be shown: may lack its end */
} adm_ask_rec_t;

_Static_assert(sizeof(adm_ask_rec_t) == 64, "an ask is one cache line");

/* Those that wait with one key and one priority. */
typedef struct adm_flow_queue_rec_t {
    uint32_t head_idx; /* tickets, linked in their asks, by arrival */
    uint32_t tail_idx;
    uint16_t prev_idx; /* flows in its ring */
    uint16_t next_idx;
} adm_flow_queue_rec_t;

/* What a zone knows of one key. Cache, zone lock. */
typedef struct adm_flow_rec_t {
    uint64_t key;
    uint32_t held;    /* permits of its tickets */
    uint32_t waiting; /* its tickets WAITING, of all priorities */
    adm_flow_queue_rec_t queues[ADM_PRIORITIES];
    uint16_t rings[ADM_PRIORITIES]; /* number of the ring it is in and one; 0:
                                     * in none */
} __attribute__((aligned(64))) adm_flow_rec_t;

_Static_assert(sizeof(adm_flow_rec_t) == 64, "a flow is one cache line");

/* Flows that wait, first in first out. */
enum { ADM_RING_UNSEEN, ADM_RING_OTHERS, ADM_RING_KINDS };

#define ADM_FLOW_RINGS (ADM_PRIORITIES * ADM_RING_KINDS * ADM_FLOW_LEVELS)

typedef struct adm_ring_rec_t {
    uint16_t first_idx; /* flows */
    uint16_t last_idx;
} adm_ring_rec_t;

/* Those that wait with one priority and costs of about one size: so that it is known
 * what they take of any limit. */
typedef struct adm_waiting_rec_t {
    uint32_t tickets;
    uint32_t cost; /* permits that they ask for */
} adm_waiting_rec_t;

/* All flows of one zone. Cache, zone lock of the zone that has it. */
typedef struct adm_flow_table_rec_t {
    /* A bit a level: the ring has flows. */
    uint64_t levels[ADM_PRIORITIES][ADM_RING_KINDS];
    uint64_t others_next[ADM_PRIORITIES]; /* a bit a level: whose turn it is */
    uint64_t passes[ADM_PRIORITIES];      /* of the stride scheduler */
    adm_waiting_rec_t waiting[ADM_PRIORITIES][ADM_COST_SIZES];
    uint32_t waiting_flows; /* flows that have waiters */
    uint32_t holding;       /* tickets that hold permits */
    uint32_t is_touched;    /* since it was all zeros */
    adm_ring_rec_t rings[ADM_FLOW_RINGS];
    adm_flow_rec_t flows[ADM_FLOWS];
    char names[ADM_FLOWS][ADM_KEY_NAME]; /* to be shown */
} __attribute__((aligned(64))) adm_flow_table_rec_t;

#endif
