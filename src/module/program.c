/* program.c - announce programs that requests start to the core. */
#include <stdatomic.h>

#include <httpd.h>
#include <ap_mpm.h>
#include <http_config.h>
#include <http_log.h>
#include <scoreboard.h>

#include "capacity.h"
#include "program.h"
#include "visit.h"

APLOG_USE_MODULE(admission);

/* Whether mod_cgid's daemon starts programs, and whether a program that it
 * starts can be identified by its token. */
static bool has_daemon;
static bool has_token;

void admission_program_start(apr_pool_t *ptemp, server_rec *s)
{
    /* If mod_cgi is loaded, too, a child might start the program. before_fork()
     * removes the token only in mod_cgid's daemon, so that program would see
     * it. */
    bool needs_token = !ap_find_linked_module("mod_cgi.c");

    has_daemon = ap_find_linked_module("mod_cgid.c") != NULL;
    has_token = has_daemon && needs_token && adm_program_try_token(ptemp);
    if (has_daemon && needs_token && !has_token) {
        ap_log_error(
            APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0120)
            "cannot find the PIDs of programs that mod_cgid starts: "
            "programs that run as another user (suEXEC), and programs whose "
            "child has crashed, might exceed the limit; to prevent this, use "
            "the prefork MPM with mod_cgi instead of mod_cgid");
    }
}

/* ---- mod_fcgid ------------------------------------------------------------ */

static bool is_outdated_child(void)
{
    return ap_scoreboard_image->global->running_generation
           != admission_capacity_query(AP_MPMQ_GENERATION, 0);
}

/* A reload ends mod_fcgid's process manager. In a child of the configuration
 * before, mod_fcgid would wait forever for a response from it, with the
 * permit. */
bool admission_program_reject_without_manager(request_rec *r)
{
    static _Atomic bool is_logged;

    if (strcmp(r->handler, "fcgid-script") != 0 || !is_outdated_child()) {
        return false;
    }
    if (!atomic_exchange(&is_logged, true)) {
        ap_log_rerror(APLOG_MARK, APLOG_WARNING, 0, r, ADMLOGNO(0216)
                      "request rejected: this child was started before the "
                      "reload, which has ended the process manager of "
                      "mod_fcgid; to avoid this, reload when no requests wait; "
                      "not logged for further requests of this child");
    }
    apr_table_setn(r->err_headers_out, "Retry-After", "1");
    return true;
}

/* ---- mod_cgid ------------------------------------------------------------- */

static bool is_cgi(const char *handler)
{
    return strcmp(handler, "cgi-script") == 0
           || strcmp(handler, CGI_MAGIC_TYPE) == 0;
}

void admission_program_export_token(request_rec *r, const adm_ticket_t *ticket)
{
    char token[ADM_TOKEN_LENGTH];

    if (has_token && is_cgi(r->handler)) {
        adm_program_token(ticket, token);
        apr_table_set(r->subprocess_env, ADM_TOKEN_VARIABLE, token);
    }
}

void admission_program_remove_token(request_rec *r)
{
    apr_table_unset(r->subprocess_env, ADM_TOKEN_VARIABLE);
}

/* mod_cgid calls the suEXEC hook, which announces the program, only once it is
 * connected to its daemon. */
bool admission_program_has_no_daemon(const request_rec *r,
                                     const adm_ticket_t *ticket, int rv)
{
    return rv == HTTP_SERVICE_UNAVAILABLE && has_daemon && is_cgi(r->handler)
           && atomic_load(&ticket->held) && !adm_program_was_announced(ticket);
}

/* Remove the token, which mod_cgid has already copied into the program's
 * environment; error pages and redirects would disclose it.
 * @return how the program is started. */
static adm_start_t take_token(const request_rec *r)
{
    if (!has_daemon) {
        return ADM_START_HERE;
    }
    if (!apr_table_get(r->subprocess_env, ADM_TOKEN_VARIABLE)) {
        return ADM_START_UNSEEN; /* exec in a server-side include */
    }
    apr_table_unset(r->subprocess_env, ADM_TOKEN_VARIABLE);
    return ADM_START_BY_TOKEN;
}

ap_unix_identity_t *admission_program_starts(const request_rec *r)
{
    admission_visit_t *visit;

    /* mod_cgid's daemon calls this hook with an almost empty request_rec. */
    if (r->connection && r->request_config) {
        visit = admission_visit_of(r);
        if (visit) {
            adm_program_announce(&visit->ticket, take_token(r));
        }
    }
    return NULL; /* no opinion on the identity */
}
