/* law_tune.h - the law of `MaxConcurrent auto`: a limit that finds itself.
 * Called by an agent; see docs/dev/auto.md.
 *
 * Pure functions: no clock, no memory but what is given, no lock, no system
 * call. The state may be any bytes; it must not change during a call, so an
 * agent that keeps it in shared memory works on a copy.
 */
#ifndef LAW_TUNE_H
#define LAW_TUNE_H

#include "law_tune_field.h"
#include "law_tune_state.h"

/** How often an agent should call law_tune() while requests run. It decides
 *  every 250 ms and in between only lowers the limit when memory demands it. */
#define LAW_TUNE_GLANCE_USEC 50000

/**
 * One step.
 *
 * @a tune is the state of the zone. All zeros: a zone of which nothing is
 * known. Bytes that the law did not write: it starts again and holds the limit
 * that is in force.
 *
 * @return the limit from now on, from @a rules->min to @a rules->max. Its
 * reason is in @a tune->reason.
 */
uint32_t law_tune(law_tune_t *tune, const law_tune_rules_t *rules,
                  const law_tune_sample_t *sample);

/**
 * The same where nothing is limited, so that nothing can be tried: the limit that
 * would serve as much, by what is served and how fast, as far as memory has room
 * for it. The state is of the same kind; law_tune() goes on from it.
 */
uint32_t law_tune_estimate(law_tune_t *tune, const law_tune_rules_t *rules,
                           const law_tune_sample_t *sample);

/** @return how many programs surely fit into memory, each as large as the largest
 *  known; 0: nothing is known. */
uint32_t law_tune_safe(const law_tune_t *tune, const law_tune_rules_t *rules);

/** @return KiB that the next program is expected to need; 0: unknown. */
uint64_t law_tune_need_kb(const law_tune_t *tune);

/** Begin with what was found before a restart, instead of at the minimum.
 *  Each may be 0 for unknown; without a limit the zone begins as a new one. */
void law_tune_remember(law_tune_t *tune, uint32_t limit, uint32_t need_kb,
                       uint32_t largest_kb);

#endif
