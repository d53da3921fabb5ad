/* adm_system.c - robust locks, sleep, and memory that processes share.
 * Called by all of src/core.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_mutex_clocklock() */
#endif

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "adm_system.h"
#include "adm_number.h"

/* ---- locks ------------------------------------------------------------------ */

/* Set around each critical section. A signal handler that interrupts one must
 * not wait for this thread, nor touch its robust list, which might be half
 * linked. */
static _Thread_local volatile sig_atomic_t inside;

apr_status_t adm_lock_init(adm_lock_t *lock)
{
    pthread_mutexattr_t attributes;
    int rv = pthread_mutexattr_init(&attributes);

    if (rv == 0) {
        /* The attributes fail only for unknown values. */
        pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
        rv = pthread_mutex_init(&lock->mutex, &attributes);
        pthread_mutexattr_destroy(&attributes);
    }
    return rv;
}

static adm_lock_result_t lock_result(int rv)
{
    switch (rv) {
    case 0:
        return ADM_LOCKED;
    case EOWNERDEAD:
        return ADM_LOCKED_OWNER_DIED;
    case EBUSY:
    case EDEADLK:
    case ETIMEDOUT:
        return ADM_LOCK_BUSY;
    default:
        return ADM_LOCK_BROKEN;
    }
}

static int lock_until(pthread_mutex_t *mutex, adm_usec_t until)
{
#ifdef ADM_HAVE_CLOCKLOCK
    struct timespec at = adm_timespec(until);

    return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &at);
#else
    /* CLOCK_REALTIME can be set: a jump makes one wait longer or shorter. */
    adm_usec_t left = until - adm_now();
    struct timespec at;

    clock_gettime(CLOCK_REALTIME, &at);
    at = adm_timespec(at.tv_sec * ADM_USEC_PER_SEC + at.tv_nsec / 1000
                      + (left > 0 ? left : 0));
    return pthread_mutex_timedlock(mutex, &at);
#endif
}

/* Leave `inside` set only if the lock was taken. */
static adm_lock_result_t begin_section(int rv)
{
    adm_lock_result_t result = lock_result(rv);

    if (result != ADM_LOCKED && result != ADM_LOCKED_OWNER_DIED) {
        inside = 0;
    }
    return result;
}

adm_lock_result_t adm_lock_try(adm_lock_t *lock)
{
    if (inside) {
        return ADM_LOCK_BUSY;
    }
    inside = 1;
    return begin_section(pthread_mutex_trylock(&lock->mutex));
}

adm_lock_result_t adm_lock_acquire(adm_lock_t *lock, adm_usec_t until)
{
    if (inside) {
        return ADM_LOCK_BUSY;
    }
    inside = 1;
    return begin_section(lock_until(&lock->mutex, until));
}

void adm_lock_release(adm_lock_t *lock)
{
    pthread_mutex_unlock(&lock->mutex);
    inside = 0;
}

void adm_lock_mark_repaired(adm_lock_t *lock)
{
    pthread_mutex_consistent(&lock->mutex);
}

bool adm_lock_is_held_here(void)
{
    return inside != 0;
}

adm_lock_result_t adm_lock_hold_for_life(adm_lock_t *lock)
{
    adm_lock_result_t result = lock_result(pthread_mutex_trylock(&lock->mutex));

    if (result == ADM_LOCKED_OWNER_DIED) {
        adm_lock_mark_repaired(lock);
        result = ADM_LOCKED;
    }
    return result;
}

bool adm_lock_owner_is_dead(adm_lock_t *lock)
{
    adm_lock_result_t result;

    if (inside) {
        return false;
    }
    inside = 1;
    result = adm_lock_hold_for_life(lock);
    if (result == ADM_LOCKED) {
        /* If the lock was free, an earlier caller was told that its thread has
         * exited, and died before it could record that. */
        pthread_mutex_unlock(&lock->mutex);
    }
    inside = 0;
    return result != ADM_LOCK_BUSY;
}

/* ---- sleep ------------------------------------------------------------------ */

/* On 32-bit systems with a 64-bit time_t, SYS_futex expects the old
 * timespec. */
#ifdef SYS_futex_time64
#define FUTEX (sizeof(time_t) > sizeof(long) ? SYS_futex_time64 : SYS_futex)
#else
#define FUTEX SYS_futex
#endif

/* Not the _PRIVATE operations: processes share the word. */

void adm_wait_sleep(atomic_uint *word, unsigned value, adm_usec_t until)
{
    adm_usec_t left = until - adm_now();
    struct timespec timeout;

    if (left <= 0) {
        return;
    }
    timeout = adm_timespec(left);
    syscall(FUTEX, word, FUTEX_WAIT, value, &timeout, NULL, 0);
}

void adm_wait_wake(atomic_uint *word)
{
    syscall(FUTEX, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* ---- memory ----------------------------------------------------------------- */

apr_status_t adm_memory_create(void **base, size_t bytes)
{
    *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return *base == MAP_FAILED ? errno : APR_SUCCESS;
}

void adm_memory_destroy(void *base, size_t bytes)
{
    munmap(base, bytes);
}
