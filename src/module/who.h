/* who.h - who asks, for whoever looks. */
#ifndef MODULE_WHO_H
#define MODULE_WHO_H

#include <httpd.h>

#include "core/adm.h"

/** Say in the segment whose ticket this is: of the client's request, not of a part
 *  of it, as mod_status does. Nothing without ExtendedStatus On. */
void admission_who_note(request_rec *r, const adm_ticket_t *ticket);

#endif
