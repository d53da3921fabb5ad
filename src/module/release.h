/* release.h - when a permit is released. */
#ifndef MODULE_RELEASE_H
#define MODULE_RELEASE_H

#include "core/adm.h"

#include <httpd.h>

/** Register the filter that releases a permit after the end of a request. Call
 *  once, when hooks are registered. */
void admission_release_register_filter(void);

/**
 * Release the permit of a request whose handler has returned @a rv: now, when
 * its program has ended, or when the request is destroyed.
 *
 * @param ends_late  the request might not end for long, because its client
 *                   reads slowly
 * @return whether the ticket has ended. Otherwise it ends with the request.
 */
bool admission_release_after_handler(request_rec *r, adm_ticket_t *ticket,
                                     int rv, bool ends_late);

/** Release the permit of a request that has its whole response, or does not
 *  need its program any more: now, or when the program has ended, which the
 *  agent notices within about 100 ms. The worker stays counted. Waits a few
 *  milliseconds for a program that is just ending.
 *  @return whether the ticket has ended; false: the program cannot be watched,
 *          and the request keeps the permit. */
bool admission_release_to_program(adm_ticket_t *ticket);

/** Release the permit when the request, and with it every program that httpd
 *  can end, has been destroyed. The permit of a program that is still running
 *  is left to the agent. */
void admission_release_after_request(adm_ticket_t *ticket);

#endif
