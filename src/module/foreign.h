/* foreign.h - modules that may serve a request without a handler name. */
#ifndef MODULE_FOREIGN_H
#define MODULE_FOREIGN_H

#include <stdbool.h>

#include <httpd.h>

/** @return whether a module is loaded that may serve a request which names no handler.
 *  Without one, httpd itself answers such a request. */
bool admission_foreign_may_serve(void);

int admission_foreign_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                  apr_pool_t *ptemp, server_rec *s);

/** Log a warning that names these modules, unless AdmissionHandlers is set for every
 *  zone. */
void admission_foreign_warn(apr_pool_t *p, server_rec *s);

#endif
