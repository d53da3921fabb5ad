/* view_server_status.h - the module's part of the server-status page. */
#ifndef VIEW_SERVER_STATUS_H
#define VIEW_SERVER_STATUS_H

#include <httpd.h>

/** Hook of server-status: one line per zone; with ?auto, one per field. */
int admission_server_status(request_rec *r, int flags);

#endif
