/* adm_wait.h - sleep and wake on one word of shared memory.
 * Called by adm_ticket, adm_doorbell, adm_agent and adm_zone (wake), with no lock
 * held.
 *
 * A futex: nothing in shared memory that a killed process could leave behind.
 */
#ifndef ADM_WAIT_H
#define ADM_WAIT_H

#include <stdatomic.h>

#include "adm.h"

/**
 * Sleep while *word == value, until somebody calls adm_wait_wake() or @a until.
 * May return early without reason: look at the word again.
 */
void adm_wait_sleep(atomic_uint *word, unsigned value, adm_usec_t until);

/** Wake whoever sleeps on the word. Async-signal-safe. */
void adm_wait_wake(atomic_uint *word);

#endif
