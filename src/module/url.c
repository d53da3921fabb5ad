/* url.c - the URL that the client requested, before any redirects.
 *
 * A front controller maps /search to /index.php. The limit of /search must
 * apply, because that is the URL that clients request and administrators know.
 *
 * httpd has two kinds of redirects. An internal redirect (mod_rewrite in
 * .htaccess, Action, a type map, ErrorDocument) makes a new
 * request_rec, with the old one in `prev`. A fast redirect (DirectoryIndex,
 * FallbackResource, MultiViews) and mod_rewrite with [PT] change the URL in the
 * same request_rec. There, parsed_uri.path is the client's, decoded in place;
 * `uri` points to it until the URL is changed.
 */
#include <httpd.h>
#include <apr_strings.h>
#include <http_config.h>
#include <http_log.h>

#include "nested/nested_actions.h"
#include "countable.h"
#include "process.h"
#include "url.h"
#include "visit.h"

APLOG_USE_MODULE(admission);

static const admission_dir_conf_t *conf_of(const request_rec *r)
{
    return ap_get_module_config(r->per_dir_config, &admission_module);
}

/* ---- the requested URL --------------------------------------------------- */

/* @return whether the file of the request does not exist and nothing ran for
 * it. Its ErrorDocument can be a front controller. The error page of a rejected
 * request cannot. */
static bool is_missing_file(const request_rec *r)
{
    const admission_request_t *state = admission_visit_request(r);

    return r->status == HTTP_NOT_FOUND && !(state && state->was_rejected)
           && (!r->handler || admission_countable_file(r));
}

/* @return whether a request only redirects to another URL. False if a program
 * redirected to a URL of this server: the program requested that URL, not the
 * client. */
static bool only_redirects(request_rec *r)
{
    if (r->status != HTTP_OK) {
        return is_missing_file(r);
    }
    return r->handler
           && (admission_countable_only_redirects(r)
               || admission_actions_target(conf_of(r), r));
}

request_rec *admission_url_asked(request_rec *r)
{
    while (r->prev && only_redirects(r->prev)) {
        r = r->prev;
    }
    return r;
}

/* @return whether the URL of this request_rec has not been changed yet.
 * Compares pointers, see the top of this file. */
static bool has_first_url(const request_rec *r)
{
    return r->uri == r->parsed_uri.path;
}

/* ---- sections ------------------------------------------------------------ */

/* @return the <Location> directives of the requested URL merged over @a conf,
 * the configuration of the redirected request. */
static const admission_dir_conf_t *merge(request_rec *r, request_rec *asked,
                                         const admission_dir_conf_t *conf)
{
    const admission_dir_conf_t *location = has_first_url(asked)
                                               ? conf_of(asked)->location
                                               : admission_location_of(asked);
    admission_dir_conf_t *merged;

    if (!location) {
        return conf;
    }
    merged = admission_conf_merge(r->pool, conf, location);
    merged->actions = conf->actions;
    return merged;
}

const admission_dir_conf_t *admission_url_conf_of_redirected(request_rec *r)
{
    request_rec *asked = admission_url_asked(r);

    return asked == r && has_first_url(r) ? conf_of(r)
                                          : merge(r, asked, conf_of(r));
}

const admission_dir_conf_t *admission_url_conf_of_target(request_rec *r,
                                                         request_rec *target)
{
    return admission_location_is_used
               ? merge(r, admission_url_asked(r), conf_of(target))
               : conf_of(target);
}

/* Reset the 404 of a missing file whose ErrorDocument is limited by its own
 * URL. httpd would regard the rejection as an error of the error page, and send
 * the client a 404 instead of the rejection's status. */
static void forget_missing_file(request_rec *r)
{
    request_rec *asked = admission_url_asked(r);

    for (; r != asked; r = r->prev) {
        r->prev->status = HTTP_OK;
    }
}

int admission_url_reject(request_rec *r)
{
    const admission_dir_conf_t *conf = admission_url_conf(r);

    if (conf != conf_of(r)) {
        forget_missing_file(r);
    }
    /* Otherwise the thread would read the rest of the body, from a client that
     * might send it slowly, to discard it. */
    if (!r->connection->master && ap_request_has_body(r)) {
        r->connection->keepalive = AP_CONN_CLOSE;
    }
    return admission_conf_reject_status(conf);
}

/* ---- expressions --------------------------------------------------------- */

request_rec *admission_url_view(const request_rec *r, request_rec *asked)
{
    request_rec *view = apr_pmemdup(r->pool, r, sizeof(*r));

    /* Without a URL, if mod_include included the file. */
    view->uri = asked->parsed_uri.path ? asked->parsed_uri.path : asked->uri;
    view->args = asked->parsed_uri.path ? asked->parsed_uri.query : asked->args;
    view->method = asked->method;
    view->method_number = asked->method_number;
    view->headers_in = asked->headers_in;
    if (asked != r) {
        view->subprocess_env = apr_table_overlay(r->pool, asked->subprocess_env,
                                                 r->subprocess_env);
    }
    return view;
}

bool admission_url_is_exempt(request_rec *r, request_rec *asked,
                             const admission_dir_conf_t *conf)
{
    const admission_zone_t *zone = admission_conf_zone(conf);
    const char *error = NULL;
    int rv;

    if (!conf->exempt) {
        return false;
    }
    rv = ap_expr_exec(admission_url_view(r, asked), conf->exempt, &error);
    if (rv < 0 && admission_process_may_log(zone->handle, ADM_EXEMPT)) {
        ap_log_rerror(
            APLOG_MARK, APLOG_ERR, 0, r, ADMLOGNO(0204)
            "zone %s: AdmissionExempt failed: %s; the request is not exempt; "
            "correct the expression; not logged again for 1 minute",
            zone->name, error);
    }
    return rv > 0;
}
