/* adm_system.h - robust locks, sleep, and memory that processes share.
 * Called by all of src/core. Fuzzers link their own.
 */
#ifndef ADM_SYSTEM_H
#define ADM_SYSTEM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <apr_errno.h>

#include "adm.h"

/* ---- locks that report a dead owner ----------------------------------------- */

/* APR's process mutexes hide that event, on which this module relies. Only
 * children lock; docs/dev/shared-memory.md has the lock rules. */
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

/* ---- sleep and wake on one word of shared memory ----------------------------- */

/* A futex: a killed process leaves nothing behind in shared memory. Call with no
 * lock held. */

/** Sleep while *word == value, until adm_wait_wake() is called or @a until is
 *  reached. May return early without reason: check the word again. */
void adm_wait_sleep(atomic_uint *word, unsigned value, adm_usec_t until);

/** Wake all threads that sleep on the word. One system call.
 *  Async-signal-safe. */
void adm_wait_wake(atomic_uint *word);

/* ---- memory that a process shares with its children -------------------------- */

/**
 * Map memory that is zeroed, anonymous, and shared with all children forked
 * later. Physical memory is allocated per page, when the page is first used.
 *
 * @param bytes  more than 0
 * @return APR_SUCCESS with the address in @a base, or the system's reason
 */
apr_status_t adm_memory_create(void **base, size_t bytes);

/** Unmap the memory, in this process only. */
void adm_memory_destroy(void *base, size_t bytes);

#endif
