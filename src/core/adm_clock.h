/* adm_clock.h - the clock of leases.
 * Called by the core and src/agent; adm_now() and adm_due() are in adm.h.
 */
#ifndef ADM_CLOCK_H
#define ADM_CLOCK_H

#include "adm.h"

/** @return the time in microseconds on a clock that goes on while the system sleeps:
 *  leases of others do. Compared with no other time. */
adm_usec_t adm_clock_of_leases(void);

#endif
