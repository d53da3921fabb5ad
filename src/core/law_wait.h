/* law_wait.h - estimates of waits, and moving means.
 * Called by src/core. Pure functions: no clock, no memory, no system call.
 */
#ifndef LAW_WAIT_H
#define LAW_WAIT_H

#include <stdint.h>

/**
 * @return an estimate in microseconds: how long until a request behind
 * @a queued others gets one of @a permits permits, when a request keeps its
 * permit for @a service_usec on average. No permits count as one.
 */
uint64_t law_wait_usec(uint32_t queued, uint64_t service_usec,
                       uint32_t permits);

/**
 * @return the moving mean of service times after one more, @a served: the
 * @a count-th. The first one sets the mean, later ones move it by an eighth.
 */
uint64_t law_wait_mean(uint64_t mean, uint64_t count, int64_t served);

/**
 * @return the slow mean of service times after one more, @a served: the @a count-th.
 * The plain mean of the first 64, then each moves it by a 64th.
 */
uint64_t law_wait_slow_mean(uint64_t mean, uint64_t count, int64_t served);

#endif
