/* view_handler.c - SetHandler admission-status, and the read-only requests of
 * admission-control: selects the output. */
#include <httpd.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>
#include <http_request.h>
#include <http_protocol.h>

#include "module/page_handler.h"
#include "module/process.h"
#include "view_outputs.h"
#include "view_fields.h"
#include "view_text.h"

APLOG_USE_MODULE(admission);

#define LOG_INTERVAL (60 * ADM_USEC_PER_SEC)

/* ---- access -------------------------------------------------------------- */

/* Refuse a page that .htaccess sets: its author must not see other sites' requests. */
int admission_handler_refuse_page(request_rec *r)
{
    static _Atomic adm_usec_t next_log;

    if (adm_due(&next_log, adm_now(), LOG_INTERVAL)) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r, ADMLOGNO(0206)
                      "%s: request rejected: its handler %s was set in "
                      ".htaccess, or by another directive than SetHandler; to "
                      "show this page, use SetHandler in the server's "
                      "configuration; not logged again by this child for 1 "
                      "minute",
                      r->uri, r->handler);
    }
    return HTTP_FORBIDDEN;
}

/* ---- query --------------------------------------------------------------- */

/* Query string of the request. */
typedef struct query_t {
    const char *output; /* "": the page */
    const char *zone;   /* NULL: all */
    admission_json_with_t with;
    const char *filter; /* of the overview */
    bool is_override;   /* has a parameter of an override */
    admission_explain_query_t explain;
} query_t;

#define OF_EXPLAIN \
    "explain=, method=, host= and client= are given once, and encoded as in a URL."
#define OF_ZONE \
    "zone=, history= and who= name one zone, and once, encoded as in a URL."

/* @return an error message; NULL if the key is valid. */
static const char *read_key(apr_pool_t *p, const char *key, const char *value,
                            query_t *query)
{
    const struct {
        const char *key, **to, *rule;
    } parameters[] = { { "explain", &query->explain.url, OF_EXPLAIN },
                       { "method", &query->explain.method, OF_EXPLAIN },
                       { "host", &query->explain.host, OF_EXPLAIN },
                       { "client", &query->explain.client, OF_EXPLAIN },
                       { "filter", &query->filter,
                         "filter= is given once, and encoded as in a URL." },
                       { "zone", &query->zone, OF_ZONE },
                       { "history", &query->zone, OF_ZONE },
                       { "who", &query->zone, OF_ZONE } };
    size_t i;

    query->with = strcmp(key, "history") == 0 ? ADMISSION_WITH_HISTORY
                  : strcmp(key, "who") == 0   ? ADMISSION_WITH_REQUESTS
                                              : query->with;
    for (i = 0; i < sizeof(parameters) / sizeof(*parameters); i++) {
        if (strcmp(key, parameters[i].key) == 0) {
            char *text = apr_pstrdup(p, value);

            if (*parameters[i].to || ap_unescape_urlencoded(text) != OK) {
                return parameters[i].rule;
            }
            *parameters[i].to = text;
            return NULL;
        }
    }
    if (strcmp(key, "limit") == 0 || strcmp(key, "queue") == 0
        || strcmp(key, "mode") == 0) {
        query->is_override = true;
        return NULL;
    }
    if (*query->output) {
        return "A response has one format: json, prometheus, ready, or the page.";
    }
    query->output = key;
    return NULL;
}

/* @return an error message; NULL if the value is valid. */
static const char *read_query(apr_pool_t *p, const char *args, query_t *query)
{
    const char *wrong = NULL;

    *query = (query_t){ .output = "" };
    while (*args && !wrong) {
        const char *value = ap_getword(p, &args, '&');
        const char *key = ap_getword(p, &value, '=');

        wrong = read_key(p, key, value, query);
    }
    if (wrong) {
        return wrong;
    }
    if (query->with && strcmp(query->output, "json") != 0) {
        return "history= and who= belong to json: ?json&history=NAME.";
    }
    if (!query->explain.url
        && (query->explain.method || query->explain.host
            || query->explain.client)) {
        return "method=, host= and client= belong to explain=URL.";
    }
    if (query->explain.url
        && (query->zone || query->filter
            || (*query->output && strcmp(query->output, "json") != 0))) {
        return "explain=URL is answered as text, or with json.";
    }
    return query->filter && (*query->output || query->zone)
               ? "filter= belongs to the page of all zones."
               : NULL;
}

static int write_output(request_rec *r, const query_t *query,
                        const admission_zone_t *only)
{
    if (query->explain.url) {
        return admission_explain_write(r, &query->explain,
                                       *query->output != '\0');
    }
    if (strcmp(query->output, "json") == 0) {
        return admission_json_write(r, only, query->with);
    }
    if (strcmp(query->output, "prometheus") == 0) {
        return admission_prometheus_write(r, only);
    }
    if (strcmp(query->output, "ready") == 0) {
        return admission_probe_write(r, only);
    }
    return *query->output ? HTTP_NOT_FOUND
                          : admission_page_write(r, only, query->filter);
}

/* Reject an override by GET: browsers follow links without asking the user. */
static int reject_override(request_rec *r)
{
    if (strcmp(r->handler, ADMISSION_CONTROL_HANDLER) != 0) {
        return HTTP_NOT_FOUND;
    }
    apr_table_setn(r->headers_out, "Allow", "POST");
    return admission_text_answer(
        r, HTTP_METHOD_NOT_ALLOWED,
        "limit=, queue= and mode= are overrides: send them by POST, as a form "
        "(application/x-www-form-urlencoded) and not in the URL.");
}

ADMISSION_NOT_INLINED static int show(request_rec *r)
{
    const char *args = r->args ? r->args : "";
    const admission_zone_t *only = NULL;
    const char *wrong;
    query_t query;

    if (!admission_page_handler_named(r->handler)) {
        return DECLINED;
    }
    if (!admission_page_handler_is_unchanged(r)) {
        return admission_handler_refuse_page(r);
    }
    if (r->method_number != M_GET) {
        ap_allow_standard_methods(
            r, REPLACE_ALLOW, M_GET,
            strcmp(r->handler, ADMISSION_CONTROL_HANDLER) == 0 ? M_POST : -1,
            -1);
        return HTTP_METHOD_NOT_ALLOWED;
    }
    admission_text_set_headers(r);
    if (admission_page_constant(r, args) == OK) {
        return OK;
    }
    if (!admission_process_child()) {
        return admission_text_answer(
            r, HTTP_SERVICE_UNAVAILABLE,
            "This child has no part in the shared memory, so it has no statistics, "
            "and its requests run without a limit. The error log has the reason.");
    }
    wrong = read_query(r->pool, args, &query);
    if (wrong) {
        return admission_text_answer(r, HTTP_BAD_REQUEST, wrong);
    }
    if (query.is_override) {
        return reject_override(r);
    }
    if (query.zone) {
        only = admission_fields_find_zone(r->pool, query.zone);
        if (!only) {
            return admission_text_no_zone(r, query.zone);
        }
    }
    return write_output(r, &query, only);
}

int admission_handler_status(request_rec *r)
{
    /* The fast path: nearly all other handlers differ in the first letter. */
    return *r->handler == 'a' || *r->handler == 'A' ? show(r) : DECLINED;
}
