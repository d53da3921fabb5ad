/* park_connection.h - connection hooks: continue a waiting request when its
 * connection has a worker again.
 */
#ifndef PARK_CONNECTION_H
#define PARK_CONNECTION_H

#include <httpd.h>

/** httpd's hooks of these names. */
int admission_connection_process(conn_rec *c);
void admission_connection_suspend(conn_rec *c, request_rec *r);
void admission_connection_resume(conn_rec *c, request_rec *r);

#endif
