/* mod_admission_handler.h - SetHandler admission-status. */
#ifndef MOD_ADMISSION_HANDLER_H
#define MOD_ADMISSION_HANDLER_H

#include <httpd.h>

/** SetHandler admission-status: the live page, ?json and ?prometheus. */
int admission_handler_status(request_rec *r);

/** Where the configuration opens the pages. */
int admission_handler_check_config(apr_pool_t *pconf, apr_pool_t *plog,
                                   apr_pool_t *ptemp, server_rec *s);

#endif
