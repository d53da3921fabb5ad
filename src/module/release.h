/* release.h - when a permit is released. */
#ifndef MODULE_RELEASE_H
#define MODULE_RELEASE_H

#include "core/adm.h"

#include <httpd.h>

/** Register the filter that releases a permit after the end of a request. Call
 *  once, when hooks are registered. */
void admission_release_register_filter(void);

/**
 * Release the permit of a request whose handler has returned @a rv:
 * immediately, or when the program that it started has ended.
 *
 * @param ends_late  the request might not end for long, because its client
 *                   reads slowly. Blocks up to a second until the program has
 *                   ended.
 * @return whether the permit was released immediately.
 */
bool admission_release_after_handler(request_rec *r, adm_ticket_t *ticket,
                                     int rv, bool ends_late);

/** Release the permit when the handler has written its whole response, unless a
 *  program might still run. The worker stays counted. @return whether the
 *  permit was released. */
bool admission_release_at_end_of_output(adm_ticket_t *ticket);

/** @return whether the request had a program that has provably ended. Blocks up
 *  to a second for a program that is about to end. */
bool admission_release_await_program(const adm_ticket_t *ticket);

/** Release the permit when the request, and with it every program that httpd
 *  can end, has been destroyed. The permit of a program that is still running
 *  is left to the agent. */
void admission_release_after_request(adm_ticket_t *ticket);

#endif
