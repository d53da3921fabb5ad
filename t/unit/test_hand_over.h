/* test_hand_over.h - two children, and a permit that goes from hand to hand. */
#ifndef TEST_HAND_OVER_H
#define TEST_HAND_OVER_H

#include "test_support.h"

#define LEASE ADM_LEASE_USEC

enum { WAITERS = 4 };

/** Two children: to each other, this process is two. */
extern adm_child_t *one, *two;

/** Who has the permit, and who waits; those without a child do not count. */
extern adm_ticket_t inside, waiting[WAITERS];

/** Make the zone, with one permit, and the children; @a inside has the permit. */
void make_children(void);

/** The n-th waiter gets in line, or is parked as well. */
void wait_in(adm_child_t *child, uint32_t n);
void park_in(adm_child_t *child, uint32_t n);

/** The permit is handed to the first in line, now: at granted_at. */
void hand_over(void);
extern adm_usec_t granted_at;

/** Somebody looks whether it is used, so long after. */
void look_after(adm_usec_t time);

/** This waiter has the permit, and nobody else. */
void assert_permit_is_with(uint32_t expected);

/** How many were admitted in the zone, and how many permits were passed on. */
uint64_t admitted(void);
uint64_t passed_on(void);

#endif
