/* adm_clock.c - what time it is.
 * Called by every floor.
 */
#include <time.h>

#include "adm.h"

adm_usec_t adm_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * ADM_USEC_PER_SEC + now.tv_nsec / 1000;
}
