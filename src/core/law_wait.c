/* law_wait.c - estimates of waits, and moving means.
 * Called by adm_limit and adm_figures.
 */
#include "law_wait.h"

uint64_t law_wait_usec(uint32_t queued, uint64_t service_usec, uint32_t permits)
{
    return (queued + 1) * service_usec / (permits ? permits : 1);
}

uint64_t law_wait_mean(uint64_t mean, uint64_t count, int64_t served)
{
    int64_t before = (int64_t)mean;

    return (uint64_t)(count == 1 ? served : before + (served - before) / 8);
}

uint64_t law_wait_slow_mean(uint64_t mean, uint64_t count, int64_t served)
{
    int64_t before = (int64_t)mean;

    return (uint64_t)(before
                      + (served - before)
                            / (int64_t)(count == 0   ? 1
                                        : count < 64 ? count
                                                     : 64));
}
