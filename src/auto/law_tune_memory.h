/* law_tune_memory.h - how many programs the memory has room for.
 * Included by law_tune.c and law_tune_memory.c.
 */
#ifndef LAW_TUNE_MEMORY_H
#define LAW_TUNE_MEMORY_H

#include "law_tune_state.h"

/** Learn from the programs that ended in this sample, and forget a little. */
void law_tune_memory_learn(law_tune_memory_t *memory,
                           const law_tune_sample_t *sample, double sec);

/** @return the KiB that all programs of the zone may have together. */
double law_tune_memory_budget(const law_tune_sample_t *sample);

/** @return how many programs fit into @a budget_kb at their peaks: 0 to
 *  @a most, which is also the answer while nothing is known. */
uint32_t law_tune_memory_cap(const law_tune_memory_t *memory,
                             const law_tune_sample_t *sample, double budget_kb,
                             uint32_t most);

/** @return whether the size of a program is known, or there is none to know. */
bool law_tune_memory_is_known(law_tune_memory_t *memory,
                              const law_tune_sample_t *sample, double now);

/** @return whether a program is larger than all before it and still grows. */
bool law_tune_memory_is_surprised(law_tune_memory_t *memory,
                                  const law_tune_sample_t *sample, double now);

/** Memory ran out: if what runs should have fitted, expect more from now on. */
void law_tune_memory_was_wrong(law_tune_memory_t *memory,
                               const law_tune_sample_t *sample);

/** @return KiB that the next program is expected to need; 0 if unknown. */
double law_tune_memory_need(const law_tune_memory_t *memory);

/** Begin with what was found before a restart. */
void law_tune_memory_remember(law_tune_memory_t *memory, double need_kb,
                              double largest_kb);

/** @return whether all numbers are ones that the law could have left. */
bool law_tune_memory_is_sane(const law_tune_memory_t *memory, double now);

#endif
