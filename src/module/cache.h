/* cache.h - answer from mod_cache what was cached during the wait. */
#ifndef MODULE_CACHE_H
#define MODULE_CACHE_H

#include <stdbool.h>

#include <httpd.h>

/** @return whether mod_cache has an answer to this request by now. Changes nothing
 *  of the request. */
bool admission_cache_has(request_rec *r);

/** Begin the request again, so that mod_cache answers it. @return what its handler
 *  returns. */
int admission_cache_serve(request_rec *r);

#endif
