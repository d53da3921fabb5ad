/* park_connection.h - a connection whose request goes on, and one whose
 * worker leaves: hooks of httpd.
 */
#ifndef PARK_CONNECTION_H
#define PARK_CONNECTION_H

#include <httpd.h>

int admission_connection_process(conn_rec *c);
void admission_connection_suspend(conn_rec *c, request_rec *r);
void admission_connection_resume(conn_rec *c, request_rec *r);

#endif
