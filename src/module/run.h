/* run.h - act on the decision: run the request or reject it. */
#ifndef MODULE_RUN_H
#define MODULE_RUN_H

#include <httpd.h>

/** Set the module's own handler hook, after which the remaining handlers
 *  follow. Call once, when hooks are registered. */
void admission_run_set_own_hook(int (*hook)(request_rec *r));

/** Log and note the decision about the request. Then run the request, with or
 *  without a permit, or reject it; if it entered the zone on behalf of its
 *  redirect's target, only redirect it. The permit is released when the work is
 *  done. @return what a handler returns. */
int admission_run(request_rec *r);

#endif
