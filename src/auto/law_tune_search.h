/* law_tune_search.h - which limit serves most.
 * Included by law_tune.c and law_tune_search.c.
 */
#ifndef LAW_TUNE_SEARCH_H
#define LAW_TUNE_SEARCH_H

#include "law_tune_state.h"

/** What a tick knows beside its sums. */
typedef struct law_tune_view_t {
    double now;
    uint32_t min;
    uint32_t max;
    uint32_t cap; /* from min to max: what memory and brake leave */
    uint32_t cores;
    bool others_try;
} law_tune_view_t;

/** Go on from @a limit in @a mode. */
void law_tune_search_begin(law_tune_search_t *search, law_tune_mode_t mode,
                           uint32_t limit, double now);

/** After a brake: hold @a limit, and wait before it is questioned. */
void law_tune_search_resume(law_tune_search_t *search, uint32_t limit,
                            double now);

/** One tick of the mode. @a in_force is the limit during it.
 *  Sets @a search->target and @a search->reason. */
void law_tune_search(law_tune_search_t *search, const law_tune_tick_t *tick,
                     uint32_t in_force, const law_tune_view_t *view);

/** @return whether all numbers are ones that the law could have left. */
bool law_tune_search_is_sane(const law_tune_search_t *search, double now);

#endif
