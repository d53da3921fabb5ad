/* mod_admission_program.h - programs that requests start. */
#ifndef MOD_ADMISSION_PROGRAM_H
#define MOD_ADMISSION_PROGRAM_H

#include "adm.h"

#include <httpd.h>
#include <unixd.h>

ap_unix_identity_t *admission_program_starts(const request_rec *r);

/** Put the ticket's token into the environment of what the request starts. */
void admission_program_export_token(request_rec *r, const adm_ticket_t *ticket);

#endif
