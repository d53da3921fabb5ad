/* report.h - report the decision about a request: notes, headers, error log. */
#ifndef MODULE_REPORT_H
#define MODULE_REPORT_H

#include "conf.h"

/** The decision about a request. */
typedef struct admission_verdict_t {
    adm_outcome_t outcome;
    const admission_zone_t *zone;
    uint32_t queued_ahead;  /* queue length at arrival */
    adm_usec_t waited_usec; /* 0: it did not wait */
    adm_usec_t drain_usec;  /* of a rejected request: estimated time until the
                             * queue has drained */
    apr_status_t fault;     /* of ADM_UNLIMITED: the cause */
    const char *reason;     /* of a rejected request, for the log; NULL: the
                             * outcome's own */
} admission_verdict_t;

/** Report the decision once, before it is acted on: notes, environment,
 *  Retry-After, error log. */
void admission_report(request_rec *r, const admission_verdict_t *verdict);

/** The hook log_transaction: copy the notes of the most important decision in a
 *  chain of redirects to the request that is logged. */
int admission_report_log_transaction(request_rec *r);

#endif
