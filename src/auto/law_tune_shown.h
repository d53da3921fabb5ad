/* law_tune_shown.h - what the outputs show of an automatic limit.
 * Included by law_tune.h.
 *
 * The state can be any bytes: a copy of what another process writes.
 */
#ifndef LAW_TUNE_SHOWN_H
#define LAW_TUNE_SHOWN_H

#include <stdbool.h>

#include "law_tune_state.h"

/** Values for the outputs; 0: unknown. */
typedef struct law_tune_shown_t {
    bool is_known;           /* there is a state */
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

/** @return the values at @a now_usec, on the clock of the samples. */
law_tune_shown_t law_tune_show(const law_tune_t *tune, uint64_t now_usec);

/** @return the word for a reason; "unknown" for an invalid number. */
const char *law_tune_field_reason(uint64_t reason);

#endif
