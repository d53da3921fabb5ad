/* law_share.h - how those that want more than there is share it.
 * Called by src/agent. Pure functions: no clock, no memory, no system call.
 */
#ifndef LAW_SHARE_H
#define LAW_SHARE_H

#include <stdint.h>

/** One that wants a part. */
typedef struct law_share_t {
    uint64_t wanted;
    uint64_t part; /* what it gets, at most what it wants */
} law_share_t;

/**
 * Share @a whole: who wants less than an equal part gets what it wants, and those
 * who want more get equal parts of the rest. The parts add up to @a whole at most.
 */
void law_share(law_share_t *shares, uint32_t count, uint64_t whole);

#endif
