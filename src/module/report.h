/* report.h - report the decision about a request: notes, headers, error log. */
#ifndef MODULE_REPORT_H
#define MODULE_REPORT_H

#include <httpd.h>

/** Report the decision about a request once, before it is acted on: notes,
 *  environment, Retry-After, error log. */
void admission_report(request_rec *r);

/** The hook log_transaction: copy the notes of the most important decision in a
 *  chain of redirects to the request that is logged. */
int admission_report_log_transaction(request_rec *r);

#endif
