/* mod_admission_handler.h - SetHandler admission-status. */
#ifndef MOD_ADMISSION_HANDLER_H
#define MOD_ADMISSION_HANDLER_H

#include <httpd.h>

/** SetHandler admission-status, or admission-control where nothing is ordered: the
 *  live page, ?json and ?prometheus. */
int admission_handler_status(request_rec *r);

/** Log that the handler does not come from the server's configuration. @return what to
 *  answer. */
int admission_handler_refuse_page(request_rec *r);

/** Answer with a status and a sentence. @return what the handler returns. */
int admission_handler_refuse(request_rec *r, int status, const char *message);

#endif
