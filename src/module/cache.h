/* cache.h - serve from mod_cache a response that was cached during the wait. */
#ifndef MODULE_CACHE_H
#define MODULE_CACHE_H

#include <stdbool.h>

#include <httpd.h>

/** @return whether mod_cache can serve the request now. Does not change the
 *  request. */
bool admission_cache_has(request_rec *r);

/** Restart the request by an internal redirect, so that mod_cache serves it.
 *  @return what a handler returns. */
int admission_cache_serve(request_rec *r);

#endif
