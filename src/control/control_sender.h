/* control_sender.h - who may give orders. */
#ifndef CONTROL_SENDER_H
#define CONTROL_SENDER_H

#include <httpd.h>

/** What a program sends to show that it is none of a foreign page. */
#define ADMISSION_CONTROL_HEADER "X-Admission-Control"

/** Beside what Require says.
 *  @return what is wrong with the sender of this request; NULL: nothing. */
const char *admission_sender_check(request_rec *r);

/** @return the sender in words, for the log: "alice" from 127.0.0.1. */
const char *admission_sender_name(request_rec *r);

#endif
