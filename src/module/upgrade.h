/* upgrade.h - release the permit when a backend switches to another protocol.
 */
#ifndef MODULE_UPGRADE_H
#define MODULE_UPGRADE_H

#include <httpd.h>

#include "core/adm.h"

/** Register the filter that watches responses. Call once, when hooks are
 *  registered. */
void admission_upgrade_register_filter(void);

/** Watch the response that mod_proxy is about to send: release the ticket when
 *  an HTTP backend responds with 101. @return whether it is watched; then
 *  admission_upgrade_unwatch() must be called when the handlers have returned.
 */
bool admission_upgrade_watch(request_rec *r, adm_ticket_t *ticket);

/** Stop watching. */
void admission_upgrade_unwatch(request_rec *r);

#endif
