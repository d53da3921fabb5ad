/* law_tune_epoch.h - what one limit yields.
 * Included by law_tune_search.h and law_tune_epoch.c.
 */
#ifndef LAW_TUNE_EPOCH_H
#define LAW_TUNE_EPOCH_H

#include "law_tune_state.h"

/** How exact an epoch has to be. */
typedef struct law_tune_need_t {
    double least;    /* requests */
    double variance; /* of the mean service time, relative to its square */
} law_tune_need_t;

/** Begin a new one, whose first @a skip_sec do not count: what ends in them
 *  began under another limit. */
void law_tune_epoch_begin(law_tune_epoch_t *epoch, double now, double skip_sec);

/** Add a tick that ends @a now, unless it began before the epoch does. */
void law_tune_epoch_add(law_tune_epoch_t *epoch, const law_tune_tick_t *tick,
                        double now);

/** @return whether it is over, at @a limit. */
bool law_tune_epoch_is_over(const law_tune_epoch_t *epoch, uint32_t limit,
                            const law_tune_need_t *need);

/** @return what it has found for @a limit. */
law_tune_yield_t law_tune_epoch_yield(const law_tune_epoch_t *epoch,
                                      uint32_t limit);

/** @return what @a more yields over @a less: 1 if the rate grew as much as the
 *  limit did, 0 if it did not grow. */
double law_tune_epoch_pays(const law_tune_yield_t *less,
                           const law_tune_yield_t *more);

/** @return whether all numbers are ones that the law could have left. */
bool law_tune_epoch_is_sane(const law_tune_epoch_t *epoch, double now);
bool law_tune_epoch_tick_is_sane(const law_tune_tick_t *tick);
bool law_tune_epoch_yield_is_sane(const law_tune_yield_t *yield);

#endif
