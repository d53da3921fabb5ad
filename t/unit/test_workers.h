/* test_workers.h - a zone whose requests take workers, and what is counted. */
#ifndef TEST_WORKERS_H
#define TEST_WORKERS_H

#include "test_support.h"

/** Make both, a zone with this limit, and a reserve that leaves @a cap workers. */
void make_zone(uint32_t limit, uint32_t cap);

/** The child's request enters the zone. */
adm_outcome_t ask(adm_entry_t entry, adm_ticket_t *ticket);

/** Workers that are held; requests that wait with a thread; workers of these. */
uint32_t workers(void);
uint32_t blocked(void);
uint32_t workers_blocked(void);

/** So many workers are held. What is counted twice has to agree when nobody is
 *  at work. */
void assert_workers(uint32_t expected);

#endif
