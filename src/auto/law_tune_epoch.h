/* law_tune_epoch.h - measurement intervals: the throughput of one limit.
 * Included by law_tune_search.h and law_tune_epoch.c.
 */
#ifndef LAW_TUNE_EPOCH_H
#define LAW_TUNE_EPOCH_H

#include "law_tune_state.h"

/** Required accuracy of an epoch. */
typedef struct law_tune_need_t {
    double least;    /* minimum number of requests */
    double variance; /* maximum, of the mean service time, relative to its
                      * square */
} law_tune_need_t;

/** Start a new epoch @a skip_sec later: requests that finish before that started
 *  under another limit. */
void law_tune_epoch_begin(law_tune_epoch_t *epoch, double now, double skip_sec);

/** Add a tick that ends @a now, unless it started before the epoch. */
void law_tune_epoch_add(law_tune_epoch_t *epoch, const law_tune_tick_t *tick,
                        double now);

/** @return whether the epoch is accurate enough at @a limit, or out of time. */
bool law_tune_epoch_is_over(const law_tune_epoch_t *epoch, uint32_t limit,
                            const law_tune_need_t *need);

/** @return the result of the epoch, which measured @a limit. */
law_tune_yield_t law_tune_epoch_yield(const law_tune_epoch_t *epoch,
                                      uint32_t limit);

/** @return the relative growth of the rate divided by that growth of the limit: 1 if
 *  the rate grew as much as the limit, 0 if it did not grow. */
double law_tune_epoch_pays(const law_tune_yield_t *less,
                           const law_tune_yield_t *more);

/** @return whether all numbers are valid. */
bool law_tune_epoch_is_sane(const law_tune_epoch_t *epoch, double now);
bool law_tune_epoch_tick_is_sane(const law_tune_tick_t *tick);
bool law_tune_epoch_yield_is_sane(const law_tune_yield_t *yield);

#endif
