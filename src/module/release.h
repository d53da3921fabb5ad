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

/** Release the permit when the handler has written its whole response, unless a
 *  program might still run. Waits a few milliseconds for a program that is just
 *  ending. @a keeps_worker: the worker stays counted, because it waits for the
 *  client. Otherwise it is returned first: a request that finds the permit must
 *  not lack the worker. @return whether the permit was released. */
bool admission_release_if_ended(adm_ticket_t *ticket, bool keeps_worker);

/** The same, but leave the permit to a program that still runs: the agent
 *  releases it within about 100 ms of the program's end. For a request that can
 *  last longer than its program.
 *  @return whether the ticket has ended; false: the program cannot be watched,
 *          and the request keeps the permit. */
bool admission_release_to_program(adm_ticket_t *ticket, bool keeps_worker);

/** Release the permit when the request, and with it every program that httpd
 *  can end, has been destroyed. The permit of a program that is still running
 *  is left to the agent. */
void admission_release_after_request(adm_ticket_t *ticket);

/** Make the end of the current request on this connection call
 *  admission_release_after_request(), when its client has taken the response. On
 *  prefork and worker, that keeps the worker counted while it waits for the
 *  client. Not for HTTP/2 streams. */
void admission_release_behind_response(conn_rec *c, adm_ticket_t *ticket);

#endif
