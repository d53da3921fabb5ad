/* adm_wait.c - sleep and wake on one word of shared memory.
 * Called by adm_ticket, adm_doorbell, adm_agent and adm_zone (wake), with no
 * lock held.
 */
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "adm_wait.h"
#include "adm_number.h"

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
