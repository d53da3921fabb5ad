/* upgrade.h - give the permit back when a backend has switched to
 * another protocol.
 */
#ifndef MODULE_UPGRADE_H
#define MODULE_UPGRADE_H

#include <httpd.h>

#include "core/adm.h"

void admission_upgrade_register_filter(void);

/** mod_proxy is about to answer with this ticket: release it as soon as the
 *  response is 101 and comes from an HTTP backend. @return whether it may be, and
 *  admission_upgrade_unwatch() is due. */
bool admission_upgrade_watch(request_rec *r, adm_ticket_t *ticket);

/** They have returned. */
void admission_upgrade_unwatch(request_rec *r);

#endif
