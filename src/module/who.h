/* who.h - record which client and URL a ticket belongs to, for the status
 * pages.
 */
#ifndef MODULE_WHO_H
#define MODULE_WHO_H

#include <httpd.h>

#include "core/adm.h"

/** Record the client, method, host and URL of the client's request, not of a
 *  subrequest, as mod_status does. Does nothing unless ExtendedStatus is On. */
void admission_who_note(request_rec *r, const adm_ticket_t *ticket);

#endif
