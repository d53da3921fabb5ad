/* spool_rest.h - send the rest of an answer without a worker (event MPM). */
#ifndef MOD_ADMISSION_PUMP_H
#define MOD_ADMISSION_PUMP_H

#include "spool_output.h"

/** The handlers of a request have returned, and something is kept for its client that
 *  can be sent without a worker; or, if that turns out not to be so, it is sent now.
 *  @return SUSPENDED, or OK. */
int admission_pump_begin(request_rec *r, admission_spool_t *spool);

#endif
