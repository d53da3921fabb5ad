/* law_tune_field.h - what an `auto` zone shows beside its limit.
 * Included by law_tune.h.
 *
 * The state may be any bytes: a copy of what another process writes.
 */
#ifndef LAW_TUNE_FIELD_H
#define LAW_TUNE_FIELD_H

#include <stdbool.h>

#include "law_tune_state.h"

/** What is known of a limit that finds itself. Numbers that are not known are 0. */
typedef struct law_tune_shown_t {
    bool is_known;           /* there is a state */
    uint32_t reason;         /* law_tune_reason_t, if the bytes are right */
    uint32_t memory_cap;     /* programs that memory has room for */
    uint32_t trial;          /* the limit that is tried; 0: none is */
    uint32_t brakes;         /* times that memory ran out */
    uint32_t busy_permille;  /* of the processors */
    uint64_t since_sec;      /* how long the limit is what it is */
    uint64_t program_mb;     /* what the next program is expected to need */
    uint64_t largest_mb;     /* the largest seen, which fades */
    uint64_t budget_mb;      /* what all programs of the zone may need */
    uint64_t requests_1000s; /* served in 1000 s at the limit that is held */
} law_tune_shown_t;

/** @return what the state shows at @a now_usec on the clock of the samples. */
law_tune_shown_t law_tune_show(const law_tune_t *tune, uint64_t now_usec);

/** @return the word for a reason; "unknown" for a number that is none. */
const char *law_tune_field_reason(uint64_t reason);

#endif
