/* mod_admission_said.c - what the configuration files say, also in directives of
 * other modules. Never what .htaccess says: that is not in httpd's tree.
 */
#include <httpd.h>
#include <apr_strings.h>
#include <http_core.h>

#include "mod_admission_private.h"

APLOG_USE_MODULE(admission);

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

/* ---- names of AdmissionHandlers ------------------------------------------------------ */

/* Handlers that modules set by themselves, without a directive that names
 * them. */
static int is_set_by_modules(const char *name, apr_size_t length)
{
    static const char *const names[] = { "cgi-script",      "proxy-server",
                                         "dav-handler",     "lua-map-handler",
                                         "default-handler", DIR_MAGIC_TYPE };
    apr_size_t i;

    for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strncmp(names[i], name, length) == 0) {
            return 1;
        }
    }
    return 0;
}

/* The handler or type that a directive gives to files, as httpd will write it
 * into the request; NULL if it gives none. */
static const char *given_by(apr_pool_t *p, const ap_directive_t *directive)
{
    const char *word;

    if (!is_directive(directive, "SetHandler")
        && !is_directive(directive, "AddHandler")
        && !is_directive(directive, "AddType")
        && !is_directive(directive, "ForceType")) {
        return NULL;
    }
    word = first_word(p, directive);
    if (strncmp(word, "proxy:unix", 10) != 0) {
        ap_str_tolower((char *)word);
    }
    return word;
}

/* Expressions and rules can give any name: who writes them knows which. */
static int can_be_given(apr_pool_t *p, const ap_directive_t *directive,
                        const char *name, apr_size_t length)
{
    const char *given = given_by(p, directive);

    if (given) {
        return strncmp(given, name, length) == 0 || strstr(given, "%{") != NULL;
    }
    return is_directive(directive, "RewriteRule") && directive->args
           && strstr(directive->args, apr_pstrmemdup(p, name, length)) != NULL;
}

/* Of a whole name the terminating zero is compared, too. Media types of files
 * are in TypesConfig. */
static int is_given(apr_pool_t *p, const char *name)
{
    apr_size_t length = strlen(name);
    const ap_directive_t *directive;

    length = name[length - 1] == '*' ? length - 1 : length + 1;
    if (admission_is_media_type(name) || is_set_by_modules(name, length)) {
        return 1;
    }
    for (directive = ap_conftree; directive;
         directive = next_directive(directive)) {
        if (can_be_given(p, directive, name, length)) {
            return 1;
        }
    }
    return 0;
}

static void warn_of_handlers(apr_pool_t *p, server_rec *s,
                             const ap_directive_t *directive)
{
    const char *args = directive->args;

    while (*args) {
        const char *name = ap_getword_conf(p, &args);

        if (strcasecmp(name, "all") == 0 || strcasecmp(name, "dynamic") == 0
            || *name == '\0' || is_given(p, name)) {
            continue;
        }
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0005)
                     "AdmissionHandlers: '%s' in %s:%d is a handler that no "
                     "SetHandler, AddHandler, AddType or ForceType of the "
                     "configuration gives, so nothing counts by it; case "
                     "matters, httpd writes names in lower case",
                     name, directive->filename, directive->line_num);
    }
}

/* ---- directives without a zone ---------------------------------------------------------- */

static int needs_zone(const ap_directive_t *directive)
{
    static const char *const names[] = { "AdmissionQueue", "AdmissionHandlers",
                                         "AdmissionExempt", "AdmissionReject",
                                         "AdmissionDryRun" };
    apr_size_t i;

    for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (is_directive(directive, names[i])) {
            return 1;
        }
    }
    return 0;
}

void admission_warn_of_directives(apr_pool_t *p, server_rec *s)
{
    int has_zones = admission_zones()->nelts > 0;
    const ap_directive_t *directive;

    for (directive = ap_conftree; directive;
         directive = next_directive(directive)) {
        if (!has_zones && needs_zone(directive)) {
            ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0006)
                         "%s in %s:%d has no effect: no MaxConcurrent of the "
                         "configuration sets a limit",
                         directive->directive, directive->filename,
                         directive->line_num);
            return;
        }
        if (is_directive(directive, "AdmissionHandlers")) {
            warn_of_handlers(p, s, directive);
        }
    }
}
