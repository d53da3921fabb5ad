/* law_tune_brake.h - fewer programs while processes stall for memory.
 * Included by law_tune.c and law_tune_brake.c.
 */
#ifndef LAW_TUNE_BRAKE_H
#define LAW_TUNE_BRAKE_H

#include "law_tune_state.h"

/** What a tick makes of the brake. */
typedef enum law_tune_braking_t {
    LAW_TUNE_BRAKE_OFF,
    LAW_TUNE_BRAKE_BEGINS,
    LAW_TUNE_BRAKE_ON,
    LAW_TUNE_BRAKE_ENDS
} law_tune_braking_t;

/** One tick, in which processes stalled for @a stall of the time, 0 to 1. While
 *  the brake is on and when it ends, @a brake->limit is the limit. */
law_tune_braking_t law_tune_brake(law_tune_brake_t *brake,
                                  const law_tune_sample_t *sample, double stall,
                                  uint32_t limit, const law_tune_rules_t *rules,
                                  double now);

/** @return whether @a stall forbids a higher limit. */
bool law_tune_brake_forbids(const law_tune_brake_t *brake, double stall);

/** @return the limit that must not be exceeded since the last brake. */
uint32_t law_tune_brake_ceiling(law_tune_brake_t *brake, uint32_t max,
                                double now);

/** @return whether all numbers are ones that the law could have left. */
bool law_tune_brake_is_sane(const law_tune_brake_t *brake, double now);

#endif
