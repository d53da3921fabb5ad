/* mod_admission_recycle.h - children end one after the other. */
#ifndef MOD_ADMISSION_RECYCLE_H
#define MOD_ADMISSION_RECYCLE_H

#include <httpd.h>

int admission_recycle_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                  apr_pool_t *ptemp, server_rec *s);

void admission_recycle_child_init(apr_pool_t *pchild, server_rec *s);

void admission_recycle_child_ready(apr_pool_t *pchild, server_rec *s);

int admission_recycle_pre_connection(conn_rec *c, void *socket);

#endif
