/* law_share.h - divides a resource fairly among claims (max-min fairness).
 * Called by auto_duty. Pure functions: no clock, no memory, no system call.
 */
#ifndef LAW_SHARE_H
#define LAW_SHARE_H

#include <stdint.h>

/** A claim. */
typedef struct law_share_t {
    uint64_t wanted;
    uint64_t part; /* result, at most `wanted` */
} law_share_t;

/**
 * Divide @a whole: claims below an equal part are granted in full, the others get
 * equal parts of the rest. The sum of the parts is at most @a whole.
 */
void law_share(law_share_t *shares, uint32_t count, uint64_t whole);

#endif
