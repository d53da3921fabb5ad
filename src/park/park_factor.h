/* park_factor.h - let event accept connections in addition to parked requests.
 */
#ifndef PARK_FACTOR_H
#define PARK_FACTOR_H

#include <httpd.h>

/** Add AsyncRequestWorkerFactor to the configuration, before httpd processes
 *  it, if the configuration has a zone but does not set the factor. */
void admission_factor_pre_config(apr_pool_t *pconf);

/** Log the factor that was added (ADM0306). */
void admission_factor_start(server_rec *s);

#endif
