/* law_tune_search.h - search for the limit with the highest throughput.
 * Included by law_tune.c and law_tune_search.c.
 */
#ifndef LAW_TUNE_SEARCH_H
#define LAW_TUNE_SEARCH_H

#include "law_tune_state.h"

/** Conditions of a tick, in addition to its sums. */
typedef struct law_tune_view_t {
    double now;
    uint32_t min;
    uint32_t max;
    uint32_t cap; /* limit that memory and brake allow, min to max */
    uint32_t cores;
    bool others_try; /* another zone tries a limit: start no trial */
} law_tune_view_t;

/** Initialize: start from @a limit in @a mode. */
void law_tune_search_begin(law_tune_search_t *search, law_tune_mode_t mode,
                           uint32_t limit, double now);

/** Continue after a brake: hold @a limit, and wait before the next trial. */
void law_tune_search_resume(law_tune_search_t *search, uint32_t limit,
                            double now);

/** Process a tick: set @a search->target and @a search->reason.
 *  @param in_force  limit during the tick */
void law_tune_search(law_tune_search_t *search, const law_tune_tick_t *tick,
                     uint32_t in_force, const law_tune_view_t *view);

/** @return whether all numbers are valid. */
bool law_tune_search_is_sane(const law_tune_search_t *search, double now);

#endif
