/* law_tune.h - the algorithm of `MaxConcurrent auto`.
 * Called by auto_duty; see docs/dev/auto.md.
 *
 * Pure functions: no clock, no allocation, no lock, no system call. The state
 * can be any bytes; it must not change during a call, so a caller that stores it
 * in shared memory passes a copy.
 */
#ifndef LAW_TUNE_H
#define LAW_TUNE_H

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

/* ---- law_tune_shown.c: for the outputs ------------------------------------- */

/** Values for the outputs; 0: unknown. */
typedef struct law_tune_shown_t {
    uint32_t reason;         /* law_tune_reason_t, or any number */
    uint32_t memory_cap;     /* programs that fit into memory */
    uint32_t trial;          /* limit that is being tried; 0: none */
    uint32_t brakes;         /* times that memory ran out */
    uint32_t busy_permille;  /* CPU time in use */
    uint64_t since_sec;      /* since the last change of the limit */
    uint64_t program_mb;     /* expected need of the next program */
    uint64_t largest_mb;     /* largest recent program */
    uint64_t budget_mb;      /* for all programs of the zone */
    uint64_t requests_1000s; /* requests per 1000 s at the held limit */
} law_tune_shown_t;

/** @return the values at @a now_usec, on the clock of the samples. @a tune can be any
 *  bytes: a copy of shared memory. */
law_tune_shown_t law_tune_show(const law_tune_t *tune, uint64_t now_usec);

/** @return the word for a reason; "unknown" for an invalid number. */
const char *law_tune_field_reason(uint64_t reason);

#endif
