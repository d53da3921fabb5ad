/* park_factor.h - let event accept others beside those who are parked. */
#ifndef PARK_FACTOR_H
#define PARK_FACTOR_H

#include <httpd.h>

/** Raise what the MPM accepts, where the administrator leaves it to us, before
 *  the configuration is processed. */
void admission_factor_pre_config(apr_pool_t *pconf);

/** Say so in the error log. */
int admission_factor_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                 apr_pool_t *ptemp, server_rec *s);

#endif
