/* law_wait.h - estimates of waits, and moving means.
 * Called by src/core. Pure functions: no clock, no memory, no system call.
 */
#ifndef LAW_WAIT_H
#define LAW_WAIT_H

#include <stdint.h>

/** @return the estimated time in microseconds until a request behind @a queued
 *  others gets one of @a permits permits, if a request holds its permit for
 *  @a service_usec on average. 0 permits count as 1. */
uint64_t law_wait_usec(uint32_t queued, uint64_t service_usec,
                       uint32_t permits);

/** @return the moving mean of service times after the @a count-th one,
 *  @a served. The first one sets the mean, each later one moves it by an
 *  eighth. */
uint64_t law_wait_mean(uint64_t mean, uint64_t count, int64_t served);

/** @return the slow mean of service times after the @a count-th one, @a served.
 *  The plain mean of the first 64; each later one moves it by a 64th. */
uint64_t law_wait_slow_mean(uint64_t mean, uint64_t count, int64_t served);

#endif
