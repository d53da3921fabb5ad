/* adm_lock.h - a robust lock in shared memory, which reports a dead owner.
 * Called by adm_zone, adm_child, adm_segment (init) and adm_round (is_held).
 *
 * APR's process mutexes hide that event, on which this module relies. Only
 * children lock; docs/dev/shared-memory.md has the lock rules.
 */
#ifndef ADM_LOCK_H
#define ADM_LOCK_H

#include <pthread.h>
#include <stdbool.h>

#include <apr_errno.h>

#include "adm.h"

typedef struct adm_lock_t {
    pthread_mutex_t mutex;
} adm_lock_t;

typedef enum adm_lock_result_t {
    ADM_LOCKED,
    ADM_LOCKED_OWNER_DIED, /* repair, then adm_lock_mark_repaired() */
    ADM_LOCK_BUSY,         /* held for too long, or by this thread */
    ADM_LOCK_BROKEN        /* cannot be locked any more */
} adm_lock_result_t;

/** Initialize a lock, before any process shares it. Does not lock. */
apr_status_t adm_lock_init(adm_lock_t *lock);

/** Start a short critical section, if the lock is free. Does not block, makes
 *  no system call. Returns ADM_LOCK_BUSY, too, if the calling thread already is
 *  in a critical section: then this is a signal handler that interrupted it,
 *  and adm_lock_is_held_here() returns true. */
adm_lock_result_t adm_lock_try(adm_lock_t *lock);

/** The same, but blocks until the lock is free or @a until is reached. */
adm_lock_result_t adm_lock_acquire(adm_lock_t *lock, adm_usec_t until);

/** End the critical section. */
void adm_lock_release(adm_lock_t *lock);

/** Mark the data as consistent again, after ADM_LOCKED_OWNER_DIED. */
void adm_lock_mark_repaired(adm_lock_t *lock);

/** @return whether this thread is inside a critical section. */
bool adm_lock_is_held_here(void);

/** Lock until the calling thread exits, for adm_lock_owner_is_dead(). Does not
 *  block. */
adm_lock_result_t adm_lock_hold_for_life(adm_lock_t *lock);

/** @return whether the thread that called adm_lock_hold_for_life() has exited;
 *  the lock is free then. Does not block. */
bool adm_lock_owner_is_dead(adm_lock_t *lock);

#endif
