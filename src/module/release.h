/* release.h - when a permit comes back. */
#ifndef MODULE_RELEASE_H
#define MODULE_RELEASE_H

#include "core/adm.h"

#include <httpd.h>

void admission_release_register_filter(void);

/** The handler has returned @a rv: release at once, or as soon as the program that
 *  it started has ended. Waits up to a second for that if the request @a ends_late: its
 *  client reads on for an unknown time. @return whether it was released at once. */
bool admission_release_after_handler(request_rec *r, adm_ticket_t *ticket,
                                     int rv, bool ends_late);

/** The handler has written all of its answer: give the permit back, unless a program
 *  may live on. The worker stays counted. @return whether it was given back now. */
bool admission_release_at_end_of_output(adm_ticket_t *ticket);

/** @return whether the request's program has provably ended; false if it had none.
 *  Waits up to a second for one that is about to. */
bool admission_release_has_ended(const adm_ticket_t *ticket);

/** The request has been destroyed, and with it what httpd could end. */
void admission_release_after_request(adm_ticket_t *ticket);

#endif
