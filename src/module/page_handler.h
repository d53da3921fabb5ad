/* page_handler.h - locations where the configuration enables the module's pages,
 * with SetHandler admission-status or SetHandler admission-control.
 */
#ifndef MODULE_PAGE_HANDLER_H
#define MODULE_PAGE_HANDLER_H

#include <stdbool.h>

#include <httpd.h>

/** @return the module's handler of this name, ignoring case; NULL: the module
 *  has no such handler. */
const char *admission_page_handler_named(const char *name);

/** @return the module's handler that a SetHandler in the configuration files,
 *  not in .htaccess, sets for the request's URL, even if the request's handler
 *  has been changed since; NULL: none. */
const char *admission_page_handler_of(const request_rec *r);

/** @return whether the request still has that handler. */
bool admission_page_handler_is_unchanged(const request_rec *r);

/** @return the path of the status page on the request's server, if a plain
 *  <Location "/path"> enables it; NULL: none does. */
const char *admission_page_handler_path(const request_rec *r);

/** The hook check_config: find the SetHandler directives. */
int admission_page_handler_check_config(apr_pool_t *pconf, apr_pool_t *plog,
                                        apr_pool_t *ptemp, server_rec *s);

#endif
