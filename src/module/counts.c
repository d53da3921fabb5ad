/* counts.c - which requests count against the limit of their zone. */
#include <httpd.h>
#include <http_config.h>
#include <http_core.h>
#include <http_log.h>
#include <http_protocol.h>

#include "parse.h"
#include "counts.h"
#include "include.h"
#include "foreign.h"
#include "process.h"

APLOG_USE_MODULE(admission);

#define LOG_INTERVAL (60 * ADM_USEC_PER_SEC)

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
 * executable: the option xbithack of mod_php, which .htaccess may set. For
 * other modules it is a static file. */
static bool may_be_php(const request_rec *r)
{
    return strcmp(r->handler, "text/html") == 0
           && (r->finfo.protection & APR_FPROT_UEXECUTE)
           && (ap_find_linked_module("mod_php.c")
               || ap_find_linked_module("mod_php7.c")
               || ap_find_linked_module("mod_php5.c"));
}

bool admission_counts_file(const request_rec *r)
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
        "md-status",   ADMISSION_STATUS_HANDLER, ADMISSION_CONTROL_HANDLER
    };
    apr_size_t i;

    for (i = 0; i < sizeof(handlers) / sizeof(*handlers); i++) {
        if (strcmp(r->handler, handlers[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* @return whether httpd serves the request itself, cheaply. Files, directories,
 * and URLs without either have no handler name, so another module might serve
 * them. */
static bool is_cheap(const request_rec *r)
{
    if (admission_counts_file(r) || strcmp(r->handler, DIR_MAGIC_TYPE) == 0) {
        return !admission_foreign_may_serve(r) || is_existing_file(r);
    }
    return is_cheap_by_name(r);
}

/* @return whether the request is for a program or a backend. A rewrite rule can
 * have a request proxied and set another handler as well. */
static bool is_dynamic(request_rec *r)
{
    return !is_cheap(r) || r->proxyreq != PROXYREQ_NONE
           || admission_include_may_exec(r);
}

static bool is_named(const char *handler, const char *name)
{
    apr_size_t length = strlen(name);

    if (length && name[length - 1] == '*') {
        return strncmp(handler, name, length - 1) == 0;
    }
    return strcmp(handler, name) == 0;
}

bool admission_counts_all(const admission_dir_conf_t *conf)
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
    return admission_counts_all(conf);
}

bool admission_counts_only_redirects(request_rec *r)
{
    if (admission_counts_is_rewritten(r)) {
        return true;
    }
    /* A type map can contain the page itself. */
    return (admission_conf_is_handler(r, "type-map")
            || admission_conf_is_handler(r, "application/x-type-map"))
           && !admission_include_may_exec(r);
}

bool admission_counts_exempt(request_rec *r, const admission_dir_conf_t *conf,
                             const admission_zone_t *zone)
{
    const char *error = NULL;
    int rv;

    if (!conf->exempt) {
        return false;
    }
    rv = ap_expr_exec(r, conf->exempt, &error);
    if (rv < 0
        && adm_zone_may_log(admission_process_segment(), zone->handle,
                            ADM_EXEMPT, adm_now(), LOG_INTERVAL)) {
        ap_log_rerror(
            APLOG_MARK, APLOG_ERR, 0, r, ADMLOGNO(0204)
            "zone %s: AdmissionExempt failed: %s; the request is not exempt; "
            "not logged again for 1 minute",
            zone->name, error);
    }
    return rv > 0;
}
