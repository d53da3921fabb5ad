/* opening.h - where the configuration opens the pages of the module:
 * SetHandler admission-status, and SetHandler admission-control. */
#ifndef MODULE_OPENING_H
#define MODULE_OPENING_H

#include <stdbool.h>

#include <httpd.h>
#include <ap_expr.h>

/** @return the module's handler with this name, in any case; NULL: there is none. */
const char *admission_opening_names(const char *name);

/** @return the module's handler that a SetHandler of the server's configuration, and
 *  not of an .htaccess, gives to the URL of this request, whatever handler the request
 *  has now; NULL: none. */
const char *admission_opening_handler(const request_rec *r);

/** @return whether that is the handler of this request. */
bool admission_opening_is_of(const request_rec *r);

/** @return the path at which the server of this request shows its zones, as far
 *  as a plain <Location "/path"> tells it; NULL: none does. */
const char *admission_opening_path(const request_rec *r);

/** @return the name of the configuration file that an expression stands in, which the
 *  expression itself may have no longer. */
const char *admission_opening_file(const ap_expr_info_t *expression);

/** Find the SetHandler directives when all are read. */
int admission_opening_check_config(apr_pool_t *pconf, apr_pool_t *plog,
                                   apr_pool_t *ptemp, server_rec *s);

#endif
