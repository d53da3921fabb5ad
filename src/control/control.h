/* control.h - the handler admission-control: change limits by POST. */
#ifndef CONTROL_H
#define CONTROL_H

#include <httpd.h>

/** The hook post_read_request: remember who sent a POST request, before
 *  directives change its headers. @return DECLINED. */
int admission_control_post_read_request(request_rec *r);

/** The handler hook: apply a POST to a location with the handler
 *  admission-control; pass all other requests to admission_handler_status().
 *  @return what a handler returns. */
int admission_control_handler(request_rec *r);

#endif
