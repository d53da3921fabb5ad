/* mod_admission_surroundings.h - what else the server does that weakens a limit. */
#ifndef MOD_ADMISSION_SURROUNDINGS_H
#define MOD_ADMISSION_SURROUNDINGS_H

#include <httpd.h>

/** Warn at start of what the configuration tells. */
int admission_surroundings_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                       apr_pool_t *ptemp, server_rec *s);

#endif
