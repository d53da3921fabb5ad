/* include.h - mod_include pages that might start programs. */
#ifndef MODULE_INCLUDE_H
#define MODULE_INCLUDE_H

#include <stdbool.h>

#include <httpd.h>

/** The hook post_config: intercept the INCLUDES filter, to mark each request
 *  whose output passes through it. */
int admission_include_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                  apr_pool_t *ptemp, server_rec *s);

/** @return whether mod_include might start programs while it sends the
 *  response. Valid only in handlers, after the filters have been initialized.
 */
bool admission_include_may_exec(request_rec *r);

#endif
