/* mod_admission_said.c - what the configuration files say, also in directives of
 * other modules. Never what .htaccess says: that is not in httpd's tree.
 */
#include <httpd.h>
#include <apr_strings.h>
#include <http_core.h>

#include "mod_admission_private.h"

/* ---- the tree of directives --------------------------------------------------- */

/* In the order of the files; a section stands before what is in it. */
static const ap_directive_t *next_directive(const ap_directive_t *directive)
{
    if (directive->first_child) {
        return directive->first_child;
    }
    while (directive && !directive->next) {
        directive = directive->parent;
    }
    return directive ? directive->next : NULL;
}

static int is_directive(const ap_directive_t *directive, const char *name)
{
    return strcasecmp(directive->directive, name) == 0;
}

/* The first word of the arguments, "" where there is none. */
static const char *first_word(apr_pool_t *p, const ap_directive_t *directive)
{
    const char *args = directive->args ? directive->args : "";

    return ap_getword_conf(p, &args);
}

/* ---- where SetHandler opens a page of ours ----------------------------------------- */

/* Each SetHandler admission-status of the configuration; of ap_directive_t *. */
static apr_array_header_t *status_directives;

int admission_said_check_config(apr_pool_t *pconf, apr_pool_t *plog,
                                apr_pool_t *ptemp, server_rec *s)
{
    const ap_directive_t *directive;

    (void)plog;
    (void)s;
    status_directives = apr_array_make(pconf, 2, sizeof(ap_directive_t *));
    for (directive = ap_conftree; directive;
         directive = next_directive(directive)) {
        if (is_directive(directive, "SetHandler")
            && strcasecmp(first_word(ptemp, directive),
                          ADMISSION_STATUS_HANDLER)
                   == 0) {
            APR_ARRAY_PUSH(status_directives,
                           const ap_directive_t *) = directive;
        }
    }
    return OK;
}

/* httpd parses the argument of SetHandler as an expression, which knows where
 * it stands. The files of the configuration are never read as .htaccess. */
int admission_is_status_open(const request_rec *r)
{
    const core_dir_config *core = ap_get_core_module_config(r->per_dir_config);
    const ap_expr_info_t *handler = core->expr_handler;
    int i;

    for (i = 0; handler && i < status_directives->nelts; i++) {
        const ap_directive_t *directive = APR_ARRAY_IDX(status_directives, i,
                                                        const ap_directive_t *);

        if (handler->line_number == (unsigned)directive->line_num
            && strcmp(handler->filename, directive->filename) == 0) {
            return 1;
        }
    }
    return 0;
}
