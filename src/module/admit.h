/* admit.h - the handler hook. */
#ifndef MODULE_ADMIT_H
#define MODULE_ADMIT_H

#include <httpd.h>

/** Decide, wait, tell, act. @return what a handler returns; DECLINED: the request
 *  does not count. */
int admission_admit(request_rec *r);

#endif
