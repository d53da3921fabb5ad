/* view_server_status.h - our part of the server-status page. */
#ifndef VIEW_SERVER_STATUS_H
#define VIEW_SERVER_STATUS_H

#include <httpd.h>

/** server-status: a line for each zone; ?auto: one for each field. */
int admission_server_status(request_rec *r, int flags);

#endif
