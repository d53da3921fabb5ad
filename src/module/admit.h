/* admit.h - the handler hook. */
#ifndef MODULE_ADMIT_H
#define MODULE_ADMIT_H

#include <httpd.h>

/** Decide whether the request counts, enter its zone, wait, and run or reject
 *  the request. Blocks, except for a request that is parked.
 *  @return what a handler returns; DECLINED: the request does not count, and
 *  httpd runs the other handlers; SUSPENDED: parked, park.c continues the
 *  request. */
int admission_admit(request_rec *r);

#endif
