/* run.h - tell of a verdict, and act on it. */
#ifndef MODULE_RUN_H
#define MODULE_RUN_H

#include "tell.h"

/** Our own handler hook: the handlers behind it are the rest. Once, when hooks
 *  are registered. */
void admission_run_behind(int (*hook)(request_rec *r));

/** Tell of the verdict, then run the request, with its permit or without, or
 *  refuse it. What it holds is given back in time. Or only redirect it, if it
 *  asked for its target. @return what a handler returns. */
int admission_run(request_rec *r, const admission_verdict_t *verdict);

#endif
