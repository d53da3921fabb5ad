/* law_tune.h - the algorithm of `MaxConcurrent auto`.
 * Called by auto_duty; see docs/dev/auto.md.
 *
 * Pure functions: no clock, no allocation, no lock, no system call. The state
 * can be any bytes; it must not change during a call, so a caller that stores it
 * in shared memory passes a copy.
 */
#ifndef LAW_TUNE_H
#define LAW_TUNE_H

#include "law_tune_shown.h"
#include "law_tune_state.h"

/** Sampling interval of law_tune() while requests run. It decides every 250 ms;
 *  in between, it only lowers the limit when memory is short. */
#define LAW_TUNE_SAMPLE_USEC 50000

/**
 * Process a sample and choose the limit.
 *
 * @param tune  state of the zone. All zeros: nothing is known yet. Invalid
 *              bytes: starts again from the limit in force.
 * @return the limit, from @a rules->min to @a rules->max; the reason is in
 *         @a tune->reason.
 */
uint32_t law_tune(law_tune_t *tune, const law_tune_rules_t *rules,
                  const law_tune_sample_t *sample);

/**
 * Estimate the limit in a dry run, where no limit can be tried: the lowest limit
 * that would serve the observed requests, from their rate and service time, within
 * the memory. law_tune() can continue with the same state.
 */
uint32_t law_tune_estimate(law_tune_t *tune, const law_tune_rules_t *rules,
                           const law_tune_sample_t *sample);

/** @return how many programs certainly fit into memory, each as large as the largest
 *  known program; 0: unknown. */
uint32_t law_tune_safe(const law_tune_t *tune, const law_tune_rules_t *rules);

/** @return KiB that the next program is expected to need; 0: unknown. */
uint64_t law_tune_need_kb(const law_tune_t *tune);

/** Initialize from values measured before a restart; 0: unknown. Without a limit
 *  the zone starts as a new one, at the minimum. */
void law_tune_remember(law_tune_t *tune, uint32_t limit, uint32_t need_kb,
                       uint32_t largest_kb);

#endif
