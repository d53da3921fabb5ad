/* mod_admission_handler.h - SetHandler admission-status. */
#ifndef MOD_ADMISSION_HANDLER_H
#define MOD_ADMISSION_HANDLER_H

#include <httpd.h>

/** SetHandler admission-status, or admission-control where nothing is ordered: the
 *  live page, ?json and ?prometheus. */
int admission_handler_status(request_rec *r);

/** @return whether the handler of this request stands in a SetHandler of the
 *  server's configuration, and not of an .htaccess. */
bool admission_handler_is_open(const request_rec *r);

/** @return the path at which the server of this request shows its zones, as far
 *  as a plain <Location "/path"> tells it; NULL: none does. */
const char *admission_handler_path(const request_rec *r);

/** Log that it does not. @return what to answer. */
int admission_handler_refuse_page(request_rec *r);

/** Answer with a status and a sentence. @return what the handler returns. */
int admission_handler_refuse(request_rec *r, int status, const char *message);

/** Where the configuration opens the pages. */
int admission_handler_check_config(apr_pool_t *pconf, apr_pool_t *plog,
                                   apr_pool_t *ptemp, server_rec *s);

#endif
