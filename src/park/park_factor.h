/* park_factor.h - let event accept connections in addition to parked requests.
 */
#ifndef PARK_FACTOR_H
#define PARK_FACTOR_H

#include <httpd.h>

/** Add AsyncRequestWorkerFactor to the configuration, before httpd processes
 *  it, if the configuration has a zone but does not set the factor. */
void admission_factor_pre_config(apr_pool_t *pconf);

/** Log the factor that was added (ADM0306). */
int admission_factor_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                 apr_pool_t *ptemp, server_rec *s);

#endif
