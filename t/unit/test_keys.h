/* test_keys.h - a zone in which keys take turns. */
#ifndef TEST_KEYS_H
#define TEST_KEYS_H

#include "test_support.h"

#include "fair/fair_flow.h"

/** One that comes often. */
#define CRAWLER 1000

enum { TICKETS = 64, LENGTH = 20 };

extern adm_ticket_t tickets[TICKETS];

/** Make the zone, with LENGTH places in its queue, and its only child. */
void begin(uint32_t limit);

/** How a request with this key enters. */
adm_entry_t entry_of(uint64_t key);

/** Ticket @a n enters so. */
adm_outcome_t come_as(adm_entry_t entry, uint32_t n);

/** @a count tickets, from @a first on, enter with one key. */
void come(uint64_t key, uint32_t first, uint32_t count, adm_outcome_t expected);

bool is_granted(uint32_t n);

/** Ticket @a from leaves, and @a to has its permit and begins. */
void assert_follows(uint32_t from, uint32_t to);

/** The flow of a ticket. */
const adm_flow_rec_t *flow_of(uint32_t n);

#endif
