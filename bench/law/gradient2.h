/* gradient2.h - the limit of Netflix' concurrency-limits, to compare with.
 * Included by tune.c.
 *
 * Written anew from its description: a mean of what requests take lately over one
 * of long ago moves the limit. With its defaults, but a least limit of 1, because
 * its own of 20 is above what several scenarios can bear.
 */
#ifndef GRADIENT2_H
#define GRADIENT2_H

#include "auto/law_tune.h"

/** All zeros: at the beginning. */
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
