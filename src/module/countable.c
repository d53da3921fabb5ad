/* countable.c - which requests count against the limit of their zone. */
#include <httpd.h>
#include <apr_hooks.h>
#include <apr_strings.h>
#include <http_config.h>
#include <http_core.h>
#include <http_log.h>
#include <util_filter.h>

#include "countable.h"
#include "zones.h"

APLOG_USE_MODULE(admission);

/* ---- pages of mod_include ------------------------------------------------ */

/* For httpd's handlers a page of mod_include is a static file. Its programs are
 * started later by the filter INCLUDES, when it is too late to reject the
 * request. So the page counts like a program. */
#define NOTE_INCLUDES "admission-includes"

static ap_init_filter_func setup_of_includes;

/* The filter's init function runs before the handlers, if the response will
 * pass through INCLUDES, no matter how the filter was added: by name, by
 * XBitHack, or by a rule of mod_filter. */
static int note_includes(ap_filter_t *f)
{
    apr_table_setn(f->r->notes, NOTE_INCLUDES, "");
    return setup_of_includes ? setup_of_includes(f) : OK;
}

bool admission_countable_include(request_rec *r)
{
    int options = ap_allow_options(r);

    return (options & OPT_INCLUDES) && (options & OPT_INC_WITH_EXEC)
           && apr_table_get(r->notes, NOTE_INCLUDES) != NULL;
}

/* ---- modules that need no handler name ----------------------------------- */

/* Most modules serve only requests for which SetHandler, AddHandler, AddType or
 * one of their own hooks has set a handler name. A few, such as Phusion
 * Passenger, decide by other means. httpd's API does not show the difference.
 * So each module whose handler hook is not known to require a name counts as
 * one of the few: its requests are limited rather than missed. */
static bool may_serve, may_serve_post;

/* Subversion's module. It starts a commit with a POST request that has no
 * handler name; all its other requests have one. */
#define SERVES_POST "mod_dav_svn.c"

/* @return whether a module's handler hook requires a handler name, or serves
 * only files of this machine. By the module's source file name, as httpd
 * records it: the modules of httpd 2.4, and third-party modules that were
 * tested. */
static bool needs_name(const char *file)
{
    static const char *const names[] = {
        "core.c",
        "h2_h2.c",
        "mod_actions.c",
        "mod_admission.c",
        "mod_asis.c",
        "mod_auth_form.c",
        "mod_autoindex.c",
        "mod_cache.c",
        "mod_cgi.c",
        "mod_cgid.c",
        "mod_dav.c",
        SERVES_POST,
        "mod_dialup.c",
        "mod_fcgid.c",
        "mod_file_cache.c",
        "mod_heartmonitor.c",
        "mod_http2.c",
        "mod_imagemap.c",
        "mod_info.c",
        "mod_isapi.c",
        "mod_jk.c",
        "mod_log_debug.c",
        "mod_lua.c",
        "mod_md.c",
        "mod_negotiation.c",
        "mod_perl.c",
        "mod_php.c",
        "mod_php5.c",
        "mod_php7.c",
        "mod_proxy.c",
        "mod_proxy_balancer.c",
        "mod_reflector.c",
        "mod_rewrite.c",
        "mod_status.c",
        "mod_wsgi.c",
        "util_ldap.c",
        NULL,
    };

    return admission_parse_is_one_of(file, names);
}

/* @return the modules that might serve a request without a handler name,
 * separated by commas; NULL: none. Handler hooks before this module's own are
 * left out: httpd calls them first, so they are never limited. */
static const char *foreign_modules(apr_pool_t *p)
{
    const apr_array_header_t *hooks = ap_hook_get_handler();
    const char *names = NULL, *last = "";
    bool is_behind = false;
    int i;

    for (i = 0; hooks && i < hooks->nelts; i++) {
        const char *name = APR_ARRAY_IDX(hooks, i, ap_LINK_handler_t).szName;

        name = name ? name : "(unnamed)";
        is_behind = is_behind || strcmp(name, "mod_admission.c") == 0;
        if (is_behind && !needs_name(name) && strcmp(name, last) != 0) {
            names = names ? apr_pstrcat(p, names, ", ", name, NULL) : name;
            last = name;
        }
    }
    return names;
}

/* @return whether a module is loaded that might serve this request, which has
 * no handler name. If not, httpd itself serves it. */
static bool may_be_foreign(const request_rec *r)
{
    return may_serve || (may_serve_post && r->method_number == M_POST);
}

void admission_countable_warn(apr_pool_t *p, server_rec *s)
{
    const admission_zone_t *zone = admission_zones();
    const char *modules = zone ? foreign_modules(p) : NULL;

    for (; modules && zone; zone = zone->next) {
        if (!zone->apparent->handlers) {
            ap_log_error(
                APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0153)
                "zone %s (%s): %s might serve requests without a handler name, "
                "so each such request takes a permit, unless it is for an "
                "existing file; a request with a 404 response takes one, too; "
                "set AdmissionHandlers to 'dynamic' to keep this, to 'all' if "
                "existing files take permits, too, or to the names of the "
                "handlers that count; not logged for further zones",
                zone->name, zone->place, modules);
            return;
        }
    }
}

void admission_countable_start(apr_pool_t *ptemp)
{
    ap_filter_rec_t *includes = ap_get_output_filter_handle("INCLUDES");

    if (includes && includes->filter_init_func != note_includes) {
        setup_of_includes = includes->filter_init_func;
        includes->filter_init_func = note_includes;
    }
    may_serve = foreign_modules(ptemp) != NULL;
    may_serve_post = ap_find_linked_module(SERVES_POST) != NULL;
}

/* ---- handlers ------------------------------------------------------------ */

/* @return whether the request is for a static file that only has a type. httpd
 * uses a file's type as its handler name if it has no handler. AddType and
 * ForceType can thus set any handler, so only a media type means a static file.
 */
static bool is_file_of_its_type(const request_rec *r)
{
    apr_size_t length = strlen(r->handler);

    return r->content_type && strncmp(r->content_type, r->handler, length) == 0
           && (r->content_type[length] == '\0' || r->content_type[length] == ';'
               || r->content_type[length] == ' ')
           && admission_parse_is_media_type(r->handler);
}

/* @return whether mod_php might run the file as a program, because it is
 * executable: the option xbithack of mod_php, which .htaccess can set. For
 * other modules it is a static file. */
static bool may_be_php(const request_rec *r)
{
    return strcmp(r->handler, "text/html") == 0
           && (r->finfo.protection & APR_FPROT_UEXECUTE)
           && (ap_find_linked_module("mod_php.c")
               || ap_find_linked_module("mod_php7.c")
               || ap_find_linked_module("mod_php5.c"));
}

bool admission_countable_file(const request_rec *r)
{
    return strcmp(r->handler, AP_DEFAULT_HANDLER_NAME) == 0
           || strcmp(r->handler, "default-handler") == 0
           || (is_file_of_its_type(r) && !may_be_php(r));
}

/* @return whether httpd's default handler sends the file unchanged, and not a
 * 404. A third-party module leaves such files to httpd, or cannot be
 * distinguished from it. */
static bool is_existing_file(const request_rec *r)
{
    return r->finfo.filetype == APR_REG
           && (r->method_number == M_GET || r->method_number == M_POST)
           && (r->used_path_info == AP_REQ_ACCEPT_PATH_INFO || !r->path_info
               || !*r->path_info);
}

/* @return whether the handler costs next to nothing, or shows an administrator
 * the state of a busy server. */
static bool is_cheap_by_name(const request_rec *r)
{
    static const char *const handlers[] = {
        "send-as-is",  "httpd/send-as-is",       "server-status",
        "server-info", "balancer-manager",       "ldap-status",
        "md-status",   ADMISSION_STATUS_HANDLER, ADMISSION_CONTROL_HANDLER,
        NULL
    };

    return admission_parse_is_one_of(r->handler, handlers);
}

/* @return whether httpd serves the request itself, cheaply. Files, directories,
 * and URLs without either have no handler name, so another module might serve
 * them. */
static bool is_cheap(const request_rec *r)
{
    if (admission_countable_file(r)
        || strcmp(r->handler, DIR_MAGIC_TYPE) == 0) {
        return !may_be_foreign(r) || is_existing_file(r);
    }
    return is_cheap_by_name(r);
}

/* @return whether the request is for a program or a backend. A rewrite rule can
 * have a request proxied and set another handler as well. */
static bool is_dynamic(request_rec *r)
{
    return !is_cheap(r) || r->proxyreq != PROXYREQ_NONE
           || admission_countable_include(r);
}

static bool is_named(const char *handler, const char *name)
{
    apr_size_t length = strlen(name);

    if (length && name[length - 1] == '*') {
        return strncmp(handler, name, length - 1) == 0;
    }
    return strcmp(handler, name) == 0;
}

bool admission_countable_all(const admission_dir_conf_t *conf)
{
    int i;

    for (i = 0; conf->handlers && i < conf->handlers->nelts; i++) {
        if (strcasecmp(APR_ARRAY_IDX(conf->handlers, i, const char *), "all")
            == 0) {
            return true;
        }
    }
    return false;
}

bool admission_counts(const admission_dir_conf_t *conf, request_rec *r)
{
    int i;

    if (!conf->handlers) {
        return is_dynamic(r);
    }
    for (i = 0; i < conf->handlers->nelts; i++) {
        const char *name = APR_ARRAY_IDX(conf->handlers, i, const char *);

        if (strcasecmp(name, "dynamic") == 0 ? is_dynamic(r)
                                             : is_named(r->handler, name)) {
            return true;
        }
    }
    return admission_countable_all(conf);
}

bool admission_countable_only_redirects(request_rec *r)
{
    if (admission_countable_is_rewritten(r)) {
        return true;
    }
    /* A type map can contain the page itself. */
    return (admission_conf_is_handler(r, "type-map")
            || admission_conf_is_handler(r, "application/x-type-map"))
           && !admission_countable_include(r);
}
