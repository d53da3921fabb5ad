/* program.h - programs that requests start. */
#ifndef MODULE_PROGRAM_H
#define MODULE_PROGRAM_H

#include "core/adm.h"

#include <httpd.h>
#include <unixd.h>

/** Find out how programs are started, after the lifecycle's. Forks once and waits
 *  for the end of that process. */
int admission_program_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                  apr_pool_t *ptemp, server_rec *s);

ap_unix_identity_t *admission_program_starts(const request_rec *r);

/** Where mod_cgid is about to start a program: put the ticket's token into the
 *  program's environment. */
void admission_program_export_token(request_rec *r, const adm_ticket_t *ticket);

/** The handler has returned: whatever it did, nobody needs the token now. */
void admission_program_remove_token(request_rec *r);

/** @return whether the handler that returned @a rv has only found that mod_cgid's
 *  daemon cannot be reached. It has begun nothing and can be run again. */
bool admission_program_has_no_daemon(const request_rec *r,
                                     const adm_ticket_t *ticket, int rv);

#endif
