/* adm_clock.h - what is due.
 * Called by every floor; adm_now() is in adm.h.
 */
#ifndef ADM_CLOCK_H
#define ADM_CLOCK_H

#include "adm.h"

/**
 * Ask whether something that is done once in @a interval is due: true for one
 * of all callers, which then does it. No system call, no lock.
 *
 * @param next  when it is due, shared by all callers; 0 at first. A time further
 *              ahead than anybody can have meant is corrupt, and due.
 */
bool adm_due(_Atomic adm_usec_t *next, adm_usec_t now, adm_usec_t interval);

/** @return the time in microseconds on a clock that goes on while the system sleeps:
 *  leases of others do. Compared with no other time. */
adm_usec_t adm_clock_of_leases(void);

#endif
