/* fuzz_system.c - the system that a fuzzed core runs on, linked instead of
 * adm_system and adm_proc.
 *
 * Shared memory lies between pages that nobody may touch. A lock is one word, so that
 * any bytes are a lock that can be asked. (glibc follows links inside of a robust mutex, so
 * that in a server one child can always crash another one by what it writes there.)
 * Nobody sleeps. Processes of an even pid live, and nothing else is known of any.
 */
#include <string.h>
#include <sys/mman.h>

#include "core/adm_system.h"
#include "core/adm_proc.h"
#include "fuzz_segment.h"

/* ---- memory -------------------------------------------------------------------- */

#define PAGE 4096

apr_status_t adm_memory_create(void **base, size_t bytes)
{
    char *all = mmap(NULL, bytes + 2 * PAGE, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                     -1, 0);

    MUST(all != MAP_FAILED);
    *base = all + PAGE;
    MUST(mprotect(*base, bytes, PROT_READ | PROT_WRITE) == 0);
    return APR_SUCCESS;
}

void adm_memory_destroy(void *base, size_t bytes)
{
    munmap((char *)base - PAGE, bytes + 2 * PAGE);
}

/* ---- locks --------------------------------------------------------------------- */

/* The first word of a lock. Any other: what nobody but a hostile process writes. */
enum { FREE, HELD, TO_BE_REPAIRED, BROKEN, ANOTHER };

static bool locks_are_forbidden;
static const adm_lock_t *held; /* of the critical section */

void forbid_locks(bool are_forbidden)
{
    locks_are_forbidden = are_forbidden;
}

static uint32_t state_of(const adm_lock_t *lock)
{
    uint32_t state;

    memcpy(&state, lock, sizeof(state));
    return state;
}

static void set_state(adm_lock_t *lock, uint32_t state)
{
    memcpy(lock, &state, sizeof(state));
}

/* Everything that can become of an attempt. */
static adm_lock_result_t attempt(adm_lock_t *lock)
{
    MUST(!locks_are_forbidden);
    switch (state_of(lock) < ANOTHER ? state_of(lock) : 1 + state_of(lock) % 3) {
    case FREE:
        set_state(lock, HELD);
        return ADM_LOCKED;
    case TO_BE_REPAIRED:
        set_state(lock, TO_BE_REPAIRED);
        return ADM_LOCKED_OWNER_DIED;
    case HELD:
        return ADM_LOCK_BUSY;
    default:
        return ADM_LOCK_BROKEN;
    }
}

static bool is_taken(adm_lock_result_t result)
{
    return result == ADM_LOCKED || result == ADM_LOCKED_OWNER_DIED;
}

apr_status_t adm_lock_init(adm_lock_t *lock)
{
    set_state(lock, FREE);
    return APR_SUCCESS;
}

adm_lock_result_t adm_lock_try(adm_lock_t *lock)
{
    adm_lock_result_t result = held ? ADM_LOCK_BUSY : attempt(lock);

    if (is_taken(result)) {
        held = lock;
    }
    return result;
}

adm_lock_result_t adm_lock_acquire(adm_lock_t *lock, adm_usec_t until)
{
    adm_lock_result_t result = adm_lock_try(lock);

    if (result == ADM_LOCK_BUSY) {
        set_state(lock, FREE); /* its owner releases it while the caller waits */
    }
    return result;
}

void adm_lock_release(adm_lock_t *lock)
{
    MUST(held == lock);
    held = NULL;
    MUST(state_of(lock) != TO_BE_REPAIRED);
    set_state(lock, FREE);
}

void adm_lock_mark_repaired(adm_lock_t *lock)
{
    MUST(held == lock);
    set_state(lock, HELD);
}

bool adm_lock_is_held_here(void)
{
    return held != NULL;
}

adm_lock_result_t adm_lock_hold_for_life(adm_lock_t *lock)
{
    adm_lock_result_t result = attempt(lock);

    if (is_taken(result)) {
        set_state(lock, HELD);
    }
    return is_taken(result) ? ADM_LOCKED : result;
}

bool adm_lock_owner_is_dead(adm_lock_t *lock)
{
    adm_lock_result_t result = held ? ADM_LOCK_BUSY : attempt(lock);

    if (is_taken(result)) {
        set_state(lock, FREE);
    }
    return result != ADM_LOCK_BUSY;
}

/* ---- sleep --------------------------------------------------------------------- */

void adm_wait_sleep(atomic_uint *word, unsigned value, adm_usec_t until)
{
}

void adm_wait_wake(atomic_uint *word)
{
}

/* ---- processes ----------------------------------------------------------------- */

bool adm_proc_is_gone(pid_t pid)
{
    return pid % 2 != 0;
}

bool adm_proc_has_ended(pid_t pid, adm_usec_t seen)
{
    return pid <= 0 || adm_proc_is_gone(pid);
}

bool adm_proc_ends_now(pid_t pid, adm_usec_t seen)
{
    return adm_proc_has_ended(pid, seen);
}

bool adm_proc_current_usage(const char *root, pid_t pid, adm_usec_t seen, adm_proc_usage_t *usage)
{
    return false;
}

bool adm_proc_final_usage(pid_t pid, adm_proc_usage_t *usage)
{
    return false;
}
