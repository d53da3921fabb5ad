/* include.h - pages of mod_include that may start programs. */
#ifndef MODULE_INCLUDE_H
#define MODULE_INCLUDE_H

#include <stdbool.h>

#include <httpd.h>

/** From now on requests whose output goes through mod_include are known. */
int admission_include_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                  apr_pool_t *ptemp, server_rec *s);

/** @return whether mod_include may start programs while it sends the answer.
 *  Only in handlers. */
bool admission_include_may_exec(request_rec *r);

#endif
