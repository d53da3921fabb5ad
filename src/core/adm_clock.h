/* adm_clock.h - the clock of leases.
 * Called by the core and src/agent; adm_now() and adm_due() are in adm.h.
 */
#ifndef ADM_CLOCK_H
#define ADM_CLOCK_H

#include "adm.h"

/** @return the time in microseconds on a clock that also runs while the system
 *  sleeps, as other servers' leases do. Comparable only with itself. */
adm_usec_t adm_clock_of_leases(void);

#endif
