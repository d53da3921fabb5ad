/* tell.h - what a request, its log and its client are told. */
#ifndef MODULE_TELL_H
#define MODULE_TELL_H

#include "conf.h"

/** What was decided about a request. */
typedef struct admission_verdict_t {
    adm_outcome_t outcome;
    const admission_zone_t *zone;
    uint32_t queued_ahead;  /* at arrival */
    adm_usec_t waited_usec; /* 0: it did not wait */
    adm_usec_t drain_usec;  /* of a refused one, estimate: when the queue will
                             * have drained */
    apr_status_t fault;     /* of ADM_UNLIMITED: why */
    const char *reason;     /* of a refused one, for the log; NULL: what its
                             * outcome says */
} admission_verdict_t;

/** Tell of the verdict, once, before it is acted upon: notes and environment,
 *  Retry-After, error log. */
void admission_tell(request_rec *r, const admission_verdict_t *verdict);

/** The access log shows the notes of what mattered most of the client's request:
 *  the hook log_transaction. */
int admission_tell_log_transaction(request_rec *r);

#endif
