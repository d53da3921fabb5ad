/* control_sender.h - which clients may override limits. */
#ifndef CONTROL_SENDER_H
#define CONTROL_SENDER_H

#include <httpd.h>

/** Request header, with any value, that a program sends to override limits. A
 *  foreign page in a browser cannot set it. */
#define ADMISSION_CONTROL_HEADER "X-Admission-Control"

/** Check the sender of a POST request, in addition to Require.
 *  @return why it may not override limits, a sentence for the client; NULL: it
 *  may. */
const char *admission_sender_check(request_rec *r);

/** @return the sender for the log: "alice" from 127.0.0.1. */
const char *admission_sender_name(request_rec *r);

#endif
