/* lifecycle.h - start, reload and end of the server and its children. */
#ifndef MODULE_LIFECYCLE_H
#define MODULE_LIFECYCLE_H

#include <httpd.h>
#include <mpm_common.h>

int admission_lifecycle_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                    apr_pool_t *ptemp, server_rec *s);

void admission_lifecycle_child_init(apr_pool_t *pchild, server_rec *s);

void admission_lifecycle_child_status(server_rec *s, pid_t pid,
                                      ap_generation_t gen, int slot,
                                      mpm_child_status status);

void admission_lifecycle_child_stopping(apr_pool_t *pchild, int graceful);

#endif
