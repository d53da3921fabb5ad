/* law_tune_brake.h - memory back-off: fewer programs while processes stall for memory.
 * Included by law_tune.c and law_tune_brake.c.
 */
#ifndef LAW_TUNE_BRAKE_H
#define LAW_TUNE_BRAKE_H

#include "law_tune_state.h"

/** Result of a tick. */
typedef enum law_tune_braking_t {
    LAW_TUNE_BRAKE_OFF,
    LAW_TUNE_BRAKE_BEGINS,
    LAW_TUNE_BRAKE_ON,
    LAW_TUNE_BRAKE_ENDS
} law_tune_braking_t;

/** Process a tick. While the brake is on and when it ends, the limit is
 *  @a brake->limit.
 *  @param stall  part of the tick in which processes stalled, 0 to 1 */
law_tune_braking_t law_tune_brake(law_tune_brake_t *brake,
                                  const law_tune_sample_t *sample, double stall,
                                  uint32_t limit, const law_tune_rules_t *rules,
                                  double now);

/** @return whether @a stall forbids a higher limit. */
bool law_tune_brake_forbids(const law_tune_brake_t *brake, double stall);

/** @return the maximum limit after the last brake; it rises step by step to @a max. */
uint32_t law_tune_brake_ceiling(law_tune_brake_t *brake, uint32_t max,
                                double now);

/** @return whether all numbers are valid. */
bool law_tune_brake_is_sane(const law_tune_brake_t *brake, double now);

#endif
