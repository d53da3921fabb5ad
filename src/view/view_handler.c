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
#include "view_query.h"
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
    const char *filter;   /* of the overview */
    const char *override; /* value of a parameter of an override; NULL: none */
} query_t;

#define OF_ZONE \
    "zone=, history= and who= name one zone, and once, encoded as in a URL."

/* @return an error message; NULL if the query is valid. */
static const char *read_query(apr_pool_t *p, const char *args, query_t *query)
{
    const char *zone = NULL, *history = NULL, *who = NULL;
    const admission_parameter_t parameters[] = {
        { "filter", &query->filter,
          "filter= is given once, and encoded as in a URL." },
        { "zone", &zone, OF_ZONE },
        { "history", &history, OF_ZONE },
        { "who", &who, OF_ZONE },
        { "limit", &query->override, NULL },
        { "queue", &query->override, NULL },
        { "mode", &query->override, NULL },
        { NULL, NULL, NULL }
    };
    const char *wrong;

    *query = (query_t){ .filter = NULL };
    wrong = admission_query_read(p, args, parameters, &query->output);
    if (wrong) {
        return wrong;
    }
    if ((zone != NULL) + (history != NULL) + (who != NULL) > 1) {
        return OF_ZONE;
    }
    query->zone = zone ? zone : history ? history : who;
    query->with = history ? ADMISSION_WITH_HISTORY
                  : who   ? ADMISSION_WITH_REQUESTS
                          : ADMISSION_WITH_NOTHING;
    if (query->with && strcmp(query->output, "json") != 0) {
        return "history= and who= belong to json: ?json&history=NAME.";
    }
    return query->filter && (*query->output || query->zone)
               ? "filter= belongs to the page of all zones."
               : NULL;
}

static int write_output(request_rec *r, const query_t *query,
                        const admission_zone_t *only)
{
    if (strcmp(query->output, "json") == 0) {
        return admission_json_write(r, only, query->with);
    }
    if (strcmp(query->output, "prometheus") == 0) {
        return admission_prometheus_write(r, only);
    }
    if (strcmp(query->output, "ready") == 0) {
        return admission_probe_write(r, only);
    }
    if (*query->output) {
        return admission_text_answer(
            r, HTTP_NOT_FOUND,
            apr_psprintf(
                r->pool,
                "There is no output '%s': use json, prometheus, ready, "
                "zone=NAME or filter=TEXT.",
                admission_text_utf8(r->pool, query->output)));
    }
    return admission_page_write(r, only, query->filter);
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
    const admission_output_t *output;
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
    output = admission_query_output(r->pool, args);
    if (output) {
        return output->write(r);
    }
    wrong = read_query(r->pool, args, &query);
    if (wrong) {
        return admission_text_answer(r, HTTP_BAD_REQUEST, wrong);
    }
    if (query.override) {
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
