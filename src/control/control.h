/* control.h - SetHandler admission-control: orders by POST. */
#ifndef CONTROL_H
#define CONTROL_H

#include <httpd.h>

/** The hook handler: obey a POST to a place with the handler admission-control.
 *  All others are for admission_handler_status(). */
int admission_control_handler(request_rec *r);

#endif
