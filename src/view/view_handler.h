/* view_handler.h - SetHandler admission-status. */
#ifndef VIEW_HANDLER_H
#define VIEW_HANDLER_H

#include <httpd.h>

/** SetHandler admission-status, or admission-control without an override: the
 *  live page, ?json and ?prometheus. */
int admission_handler_status(request_rec *r);

/** Log that the handler does not come from the server's configuration. @return
 *  the status of the response. */
int admission_handler_refuse_page(request_rec *r);

#endif
