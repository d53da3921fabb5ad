/* gradient2.h - the limit of Netflix' concurrency-limits, for comparison.
 * Included by tune.c.
 *
 * A new implementation of its description: the limit follows the ratio of a recent
 * mean of the service time to a long-term mean. With its defaults, except a minimum
 * limit of 1, because its default of 20 is too high for several scenarios.
 */
#ifndef GRADIENT2_H
#define GRADIENT2_H

#include "auto/law_tune.h"

/** Starts with all zeros. */
typedef struct gradient2_t {
    double limit;
    double long_sec;
    double windows;
    uint64_t next_usec;
    double served, service_sec; /* in this window */
    uint32_t most_active;
} gradient2_t;

/** A world_control_t; @a self is a gradient2_t. @return the limit. */
uint32_t gradient2(void *self, const law_tune_sample_t *sample);

#endif
