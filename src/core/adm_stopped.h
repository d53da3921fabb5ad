/* adm_stopped.h - take back what stopped children keep.
 * Called by adm_round, with no lock held.
 */
#ifndef ADM_STOPPED_H
#define ADM_STOPPED_H

#include "adm_reap.h"

/** Free the permits of stopped children whose programs have ended, in zones where
 *  somebody waits. Makes system calls for each permit of these zones. */
void adm_stopped_take_back(adm_reap_round_t *round);

#endif
