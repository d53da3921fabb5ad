/* law_tune_memory.h - forecast: how many programs fit into memory.
 * Included by law_tune.c and law_tune_memory.c.
 */
#ifndef LAW_TUNE_MEMORY_H
#define LAW_TUNE_MEMORY_H

#include "law_tune_state.h"

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

#endif
