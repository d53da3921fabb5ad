/* block.h - wait for a permit without parking the request: blocked. */
#ifndef MODULE_BLOCK_H
#define MODULE_BLOCK_H

#include "wait.h"

/** Wait for the permit on the calling thread, which stays occupied. @return how
 *  the wait ended, see admission_wait_outcome(); never ADM_WAITING. */
adm_outcome_t admission_block(request_rec *r, adm_ticket_t *ticket,
                              adm_usec_t deadline);

#endif
