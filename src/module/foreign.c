/* foreign.c - modules that might serve a request without a handler name.
 *
 * Most modules serve only requests for which SetHandler, AddHandler, AddType or
 * one of their own hooks has set a handler name. A few, such as Phusion
 * Passenger, decide by other means. httpd's API does not show the difference.
 * So each module whose handler hook is not known to require a name counts as
 * one of the few: its requests are limited rather than missed.
 */
#include <httpd.h>
#include <apr_hooks.h>
#include <apr_strings.h>
#include <http_config.h>
#include <http_log.h>

#include "zones.h"
#include "foreign.h"

APLOG_USE_MODULE(admission);

static bool may_serve, may_serve_post;

/* Subversion's module. It starts a commit with a POST request that has no handler
 * name; all its other requests have one. */
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
    };
    apr_size_t i;

    for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strcmp(file, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* @return the names of the modules, separated by commas; NULL: none. Handler
 * hooks before this module's own are left out: httpd calls them first, so they
 * are never limited. */
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

bool admission_foreign_may_serve(const request_rec *r)
{
    return may_serve || (may_serve_post && r->method_number == M_POST);
}

int admission_foreign_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                  apr_pool_t *ptemp, server_rec *s)
{
    (void)pconf;
    (void)plog;
    (void)s;
    may_serve = foreign_modules(ptemp) != NULL;
    may_serve_post = ap_find_linked_module(SERVES_POST) != NULL;
    return OK;
}

void admission_foreign_warn(apr_pool_t *p, server_rec *s)
{
    const apr_array_header_t *zones = admission_zones();
    const char *modules = zones->nelts ? foreign_modules(p) : NULL;
    int i;

    for (i = 0; modules && i < zones->nelts; i++) {
        const admission_zone_t *zone = APR_ARRAY_IDX(zones, i,
                                                     admission_zone_t *);

        if (!zone->apparent->handlers) {
            ap_log_error(
                APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0153)
                "zone %s (%s): %s might serve requests without a handler name: "
                "such a request counts unless it is for an existing file, even "
                "if it results in a 404; set AdmissionHandlers: dynamic to "
                "confirm this, all if the module also serves existing files, "
                "or the handlers that count; not logged for further zones",
                zone->name, zone->place, modules);
            return;
        }
    }
}
