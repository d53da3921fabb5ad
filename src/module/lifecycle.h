/* lifecycle.h - start, reload and end of the server and its children. */
#ifndef MODULE_LIFECYCLE_H
#define MODULE_LIFECYCLE_H

#include <httpd.h>
#include <mpm_common.h>

/** The hook post_config: find or create the segment, and configure the zones in
 *  it. Runs before the first fork. @return OK, or an error that was logged. */
int admission_lifecycle_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                    apr_pool_t *ptemp, server_rec *s);

/** The hook child_init: register the child. */
void admission_lifecycle_child_init(apr_pool_t *pchild, server_rec *s);

/** The hook child_status, in the parent: note that a child has exited, and wake
 *  the agent. */
void admission_lifecycle_child_status(server_rec *s, pid_t pid,
                                      ap_generation_t gen, int slot,
                                      mpm_child_status status);

/** The hook child_stopping: end all waits of a child that does not stop
 *  gracefully. */
void admission_lifecycle_child_stopping(apr_pool_t *pchild, int graceful);

#endif
