/* program.h - follow the programs that requests start. */
#ifndef MODULE_PROGRAM_H
#define MODULE_PROGRAM_H

#include "core/adm.h"

#include <httpd.h>
#include <unixd.h>

/** Find out how programs are started. Forks once and blocks until that process
 *  exits. */
void admission_program_start(apr_pool_t *ptemp, server_rec *s);

/** The hook get_suexec_identity, called before a CGI program is started:
 *  announce the program to the core. @return NULL. */
ap_unix_identity_t *admission_program_starts(const request_rec *r);

/** Put the ticket's token into the program's environment, if mod_cgid is about
 *  to start a program: the token identifies the ticket to its daemon. */
void admission_program_export_token(request_rec *r, const adm_ticket_t *ticket);

/** Remove the token when the handler has returned. */
void admission_program_remove_token(request_rec *r);

/** @return whether the handler that returned @a rv only failed to reach
 *  mod_cgid's daemon. It has started nothing, and can be run again. */
bool admission_program_has_no_daemon(const request_rec *r,
                                     const adm_ticket_t *ticket, int rv);

/** @return whether the handler is mod_fcgid's, and its process manager has ended
 *  with a reload: the handler must not run, because it would never return. Logs
 *  that, and sets Retry-After. */
bool admission_program_reject_without_manager(request_rec *r);

#endif
