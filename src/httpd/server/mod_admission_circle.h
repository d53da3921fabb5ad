/* mod_admission_circle.h - ProxyPass that leads a zone into itself. */
#ifndef MOD_ADMISSION_CIRCLE_H
#define MOD_ADMISSION_CIRCLE_H

#include <httpd.h>

/** Log a warning of each ProxyPass of a zone that leads to this very server and into
 *  the same zone, as far as the configuration tells. */
void admission_circle_warn(apr_pool_t *p, server_rec *s);

#endif
