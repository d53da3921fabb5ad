/* adm_wait.h - sleep and wake on one word of shared memory.
 * Called by adm_ticket, adm_doorbell, adm_agent and adm_zone (wake), with no
 * lock held.
 *
 * A futex: a killed process leaves nothing behind in shared memory.
 */
#ifndef ADM_WAIT_H
#define ADM_WAIT_H

#include <stdatomic.h>

#include "adm.h"

/** Sleep while *word == value, until adm_wait_wake() is called or @a until is
 *  reached. May return early without reason: check the word again. */
void adm_wait_sleep(atomic_uint *word, unsigned value, adm_usec_t until);

/** Wake all threads that sleep on the word. One system call.
 *  Async-signal-safe. */
void adm_wait_wake(atomic_uint *word);

#endif
