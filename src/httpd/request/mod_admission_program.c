/* mod_admission_program.c - tell the core of programs that requests start. */
#include <httpd.h>

#include "request/mod_admission_program.h"
#include "request/mod_admission_visit.h"
#include "server/mod_admission_process.h"

/* mod_cgid's daemon forks its programs. What a thread of the child forks then
 * is something else, such as a filter of mod_ext_filter. Where both modules are
 * loaded, whose handler runs cannot be known. */
static int daemon_forks(void)
{
    return ap_find_linked_module("mod_cgid.c")
           && !ap_find_linked_module("mod_cgi.c");
}

ap_unix_identity_t *admission_program_starts(const request_rec *r)
{
    admission_visit_t *visit;

    /* In mod_cgid's daemon there is a request_rec with nearly nothing in it. */
    if (admission_process_child() && r->connection && r->request_config) {
        visit = admission_visit_of(r);
        if (visit) {
            adm_program_announce(&visit->ticket);
            if (daemon_forks()) {
                adm_program_withdraw();
            }
        }
    }
    return NULL; /* no opinion on the identity */
}

void admission_program_export_token(request_rec *r, const adm_ticket_t *ticket)
{
    char token[ADM_TOKEN_LENGTH];

    adm_program_token(ticket, token);
    apr_table_set(r->subprocess_env, ADM_TOKEN_VARIABLE, token);
}
