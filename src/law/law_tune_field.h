/* law_tune_field.h - what an `auto` zone shows beside its limit.
 * Included by law_tune.h.
 *
 * The state may be any bytes: a copy of what another process writes.
 */
#ifndef LAW_TUNE_FIELD_H
#define LAW_TUNE_FIELD_H

#include "law_tune_state.h"

typedef enum law_tune_field_t {
    LAW_TUNE_FIELD_REASON,     /* law_tune_reason_t */
    LAW_TUNE_FIELD_SINCE_SEC,  /* how long the limit is what it is */
    LAW_TUNE_FIELD_MEMORY,     /* programs that memory has room for */
    LAW_TUNE_FIELD_PROGRAM_MB, /* what the next one is expected to need */
    LAW_TUNE_FIELD_LARGEST_MB,
    LAW_TUNE_FIELD_BUDGET_MB, /* what all may need together */
    LAW_TUNE_FIELD_BUSY,      /* per mille of the processors */
    LAW_TUNE_FIELD_TRIAL,     /* the limit that is tried; 0: none is */
    LAW_TUNE_FIELD_BRAKES,    /* times that memory ran out */
    LAW_TUNE_FIELD_RATE,      /* requests per 1000 s at the limit held */
    LAW_TUNE_FIELDS
} law_tune_field_t;

/** @return what the state shows in a field at @a now_usec on the clock of the
 *  samples; 0 where the bytes say nothing. */
uint64_t law_tune_field(const law_tune_t *tune, law_tune_field_t field,
                        uint64_t now_usec);

/** @return the word for a reason; "unknown" for a number that is none. */
const char *law_tune_field_reason(uint64_t reason);

#endif
