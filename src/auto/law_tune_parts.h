/* law_tune_parts.h - the parts of the algorithm, for law_tune.c and each other. */
#ifndef LAW_TUNE_PARTS_H
#define LAW_TUNE_PARTS_H

#include "law_tune_number.h"
#include "law_tune_state.h"

/* ---- law_tune_memory.c: forecast: how many programs fit into memory --------- */

/** Update the means with the programs that ended in the last @a sec seconds; older
 *  values fade. */
void law_tune_memory_update(law_tune_memory_t *memory,
                            const law_tune_sample_t *sample, double sec);

/** @return KiB for all programs of the zone together. */
double law_tune_memory_budget(const law_tune_sample_t *sample);

/** @return how many programs fit into @a budget_kb at their peaks: 0 to
 *  @a most; @a most while nothing is known. */
uint32_t law_tune_memory_cap(const law_tune_memory_t *memory,
                             const law_tune_sample_t *sample, double budget_kb,
                             uint32_t most);

/** Measure the first programs while they run. @return whether the size of a program is
 *  known now, or requests start no programs.
 *  Until then the cold-start gate lets one program run. */
bool law_tune_memory_update_known(law_tune_memory_t *memory,
                                  const law_tune_sample_t *sample, double now);

/** Measure a program that is larger than all before. @return whether there is one that
 *  might still grow. */
bool law_tune_memory_update_surprise(law_tune_memory_t *memory,
                                     const law_tune_sample_t *sample,
                                     double now);

/** Correct the forecast after memory ran out: expect larger programs if the running
 *  ones should have fit. */
void law_tune_memory_correct(law_tune_memory_t *memory,
                             const law_tune_sample_t *sample);

/** @return KiB that the next program is expected to need; 0 if unknown. */
double law_tune_memory_need(const law_tune_memory_t *memory);

/** Initialize from values measured before a restart. */
void law_tune_memory_remember(law_tune_memory_t *memory, double need_kb,
                              double largest_kb);

/** @return whether all numbers of @a memory are valid at @a now; it can be any bytes. */
bool law_tune_memory_is_sane(const law_tune_memory_t *memory, double now);

/* ---- law_tune_brake.c: fewer programs while processes stall for memory ------ */

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

/** @return the maximum limit after the last brake. It rises to @a max step by step. */
uint32_t law_tune_brake_ceiling(law_tune_brake_t *brake, uint32_t max,
                                double now);

/** @return whether all numbers are valid. */
bool law_tune_brake_is_sane(const law_tune_brake_t *brake, double now);

/* ---- law_tune_epoch.c: measurement intervals: the throughput of one limit --- */

/** Required accuracy of an epoch. */
typedef struct law_tune_need_t {
    double least;    /* minimum number of requests */
    double variance; /* maximum, of the mean service time, relative to its
                      * square */
    double rounds;   /* minimum number of requests per permit: programs of a
                      * backend often end together */
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

/** @return the relative growth of the rate divided by the relative growth of the
 *  limit: 1 if both grew by the same factor, 0 if the rate did not grow. */
double law_tune_epoch_pays(const law_tune_yield_t *less,
                           const law_tune_yield_t *more);

/** @return whether all numbers are valid. */
bool law_tune_epoch_is_sane(const law_tune_epoch_t *epoch, double now);
bool law_tune_epoch_tick_is_sane(const law_tune_tick_t *tick);
bool law_tune_epoch_yield_is_sane(const law_tune_yield_t *yield);

/* ---- law_tune_search.c: the limit with the highest throughput --------------- */

/** Conditions of a tick, in addition to its sums. */
typedef struct law_tune_view_t {
    double now;
    uint32_t min;
    uint32_t max;
    uint32_t cap; /* limit that memory and brake allow, min to max */
    uint32_t cores;
    uint32_t active; /* requests that run */
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
