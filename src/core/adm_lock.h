/* adm_lock.h - a robust lock in shared memory that tells "the owner died".
 * Called by adm_zone, adm_child, adm_segment (init) and adm_round (is_held).
 *
 * APR's process mutexes swallow that event, and it is the one this module is
 * built on. Only children lock; see docs/dev/shared-memory.md, lock rules.
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
    ADM_LOCK_BUSY,         /* still held when the time was up, or inside */
    ADM_LOCK_BROKEN        /* cannot be locked any more */
} adm_lock_result_t;

/** Prepare a lock. Before any process shares it; takes nothing. */
apr_status_t adm_lock_init(adm_lock_t *lock);

/**
 * Take the lock of a short critical section if nobody holds it. Does not block
 * and makes no system call. Answers ADM_LOCK_BUSY also when this thread is in a
 * critical section already, which happens only below a signal handler that
 * interrupted it: adm_lock_is_held_here() tells.
 */
adm_lock_result_t adm_lock_try(adm_lock_t *lock);

/** The same, but blocks until the lock is free or @a until is reached. */
adm_lock_result_t adm_lock_acquire(adm_lock_t *lock, adm_usec_t until);

/** End the critical section begun by adm_lock_try() or adm_lock_acquire(). */
void adm_lock_release(adm_lock_t *lock);

/** The data are whole again after ADM_LOCKED_OWNER_DIED. */
void adm_lock_mark_repaired(adm_lock_t *lock);

/** @return whether this thread is inside a critical section. */
bool adm_lock_is_held_here(void);

/** Take a lock for as long as the calling thread lives. Does not block. */
adm_lock_result_t adm_lock_hold_for_life(adm_lock_t *lock);

/**
 * Learn whether the thread that took the lock for life is dead. Does not block
 * and leaves the lock free again if so.
 */
bool adm_lock_owner_is_dead(adm_lock_t *lock);

#endif
