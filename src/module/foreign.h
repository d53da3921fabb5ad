/* foreign.h - modules that might serve a request without a handler name. */
#ifndef MODULE_FOREIGN_H
#define MODULE_FOREIGN_H

#include <stdbool.h>

#include <httpd.h>

/** @return whether a module is loaded that might serve this request, which has no
 *  handler name. If not, httpd itself serves it. */
bool admission_foreign_may_serve(const request_rec *r);

/** The hook post_config: find these modules. */
int admission_foreign_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                  apr_pool_t *ptemp, server_rec *s);

/** Log a warning with the names of these modules, unless AdmissionHandlers is
 *  set for every zone. */
void admission_foreign_warn(apr_pool_t *p, server_rec *s);

#endif
