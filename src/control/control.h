/* mod_admission_control.h - SetHandler admission-control: orders by POST. */
#ifndef MOD_ADMISSION_CONTROL_H
#define MOD_ADMISSION_CONTROL_H

#include <httpd.h>

/** The hook handler: obey a POST to a place with the handler admission-control.
 *  All others are for admission_handler_status(). */
int admission_control_handler(request_rec *r);

#endif
