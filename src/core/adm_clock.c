/* adm_clock.c - the clocks, and what is due.
 * Called by all of src.
 */
#include <time.h>

#include "adm.h"

static adm_usec_t read_clock(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec * ADM_USEC_PER_SEC + now.tv_nsec / 1000;
}

adm_usec_t adm_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

adm_usec_t adm_clock_since_boot(void)
{
    return read_clock(CLOCK_BOOTTIME);
}

bool adm_due(_Atomic adm_usec_t *next, adm_usec_t now, adm_usec_t interval)
{
    adm_usec_t due = atomic_load(next);

    /* Two intervals: the last caller might have read the clock later than this
     * one. */
    return (now >= due || due > now + 2 * interval)
           && atomic_compare_exchange_strong(next, &due, now + interval);
}
