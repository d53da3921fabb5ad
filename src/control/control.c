/* control.c - the handler admission-control: change limits by POST.
 *
 * A POST request overrides the configured limit, queue length or mode of one
 * zone. Every other request gets the status pages.
 *
 * Overrides are accepted only from users that httpd has authenticated, and from
 * clients on this machine, so that a forgotten Require opens nothing. They are
 * not accepted from another site's page in an administrator's browser: such a
 * page cannot hide its Origin, and cannot set the module's own header.
 */
#include <httpd.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>
#include <http_protocol.h>
#include <http_vhost.h>
#include <util_script.h>

#include "module/conf.h"
#include "module/page_handler.h"
#include "module/parse.h"
#include "nested/nested_local.h"
#include "control.h"
#include "module/process.h"
#include "view/view_fields.h"
#include "view/view_outputs.h"
#include "view/view_text.h"

APLOG_USE_MODULE(admission);

/* Request header, with any value, that a program sends to override limits. A
 * foreign page in a browser cannot set it. */
#define ADMISSION_CONTROL_HEADER "X-Admission-Control"

/* ---- the sender ---------------------------------------------------------- */

/* Whether a name is the server's own. An attacker's name can resolve to our
 * address (DNS rebinding); a page of that name then has our origin. */
static bool is_own_name(request_rec *r, const char *name)
{
    return name
           && (strcasecmp(name, "localhost") == 0
               || strcmp(name, r->connection->local_ip) == 0
               || ap_matches_request_vhost(r, name, r->server->port));
}

/* What the headers of a POST request disclose about its sender. */
typedef struct sender_t {
    const char *host;
    const char *origin;
    const char *site;
    bool is_program; /* it has the module's own header */
    bool is_proxied;
} sender_t;

#define SENDER_KEY "admission-sender"

/* A client behind a proxy on this machine is not local; neither is one whose
 * request a tenant's .htaccess file sends on ([P]). */
static bool is_proxied(const request_rec *r)
{
    return apr_table_get(r->headers_in, "X-Forwarded-For")
           || apr_table_get(r->headers_in, "Forwarded")
           || apr_table_get(r->headers_in, "Via");
}

/* Read the headers when the request arrives: before the handler runs, a
 * tenant's .htaccess file in the document root can add and remove headers
 * (RequestHeader). An internal redirect keeps the pool of the request, and calls
 * this hook again with the changed headers. */
int admission_control_post_read_request(request_rec *r)
{
    if (r->method_number == M_POST && !r->prev) {
        sender_t *sender = apr_palloc(r->pool, sizeof(*sender));

        sender->host = apr_table_get(r->headers_in, "Host");
        sender->origin = apr_table_get(r->headers_in, "Origin");
        sender->site = apr_table_get(r->headers_in, "Sec-Fetch-Site");
        sender->is_program = apr_table_get(r->headers_in,
                                           ADMISSION_CONTROL_HEADER)
                             != NULL;
        sender->is_proxied = is_proxied(r);
        apr_pool_userdata_setn(sender, SENDER_KEY, NULL, r->pool);
    }
    return DECLINED;
}

/* A browser sends the same host and port in Host and Origin. */
static bool is_own_origin(request_rec *r, const sender_t *sender)
{
    const char *own = apr_pstrcat(r->pool, ap_http_scheme(r), "://",
                                  sender->host ? sender->host : "", NULL);

    return strcasecmp(sender->origin, own) == 0 && is_own_name(r, r->hostname);
}

/* Check the sender of a POST request, in addition to Require. @return why it
 * may not override limits, a sentence for the client; NULL: it may. */
static const char *check_sender(request_rec *r)
{
    const sender_t unknown = { .is_proxied = true };
    const sender_t *sender;
    void *data = NULL;

    apr_pool_userdata_get(&data, SENDER_KEY, r->pool);
    sender = data ? data : &unknown;
    if (!r->user && !admission_local_is_loopback(r->useragent_addr)) {
        return "Limits can be changed from this machine, or by a user whom httpd has "
               "authenticated (AuthType, Require user).";
    }
    if (!r->user && sender->is_proxied) {
        return "The request came through a proxy: there, only users whom httpd has "
               "authenticated may change limits (AuthType, Require user).";
    }
    if (sender->site && strcasecmp(sender->site, "cross-site") == 0) {
        return "The request was sent by a page of another site.";
    }
    if (sender->origin && !is_own_origin(r, sender)) {
        return "The request was sent by a page of another site: its Origin is not "
               "this server.";
    }
    if (!sender->origin && !sender->is_program) {
        return "The request needs the header " ADMISSION_CONTROL_HEADER
               ", with any value, or the Origin of this server.";
    }
    return NULL;
}

/* @return the sender for the log: "alice" from 127.0.0.1. */
static const char *name_sender(request_rec *r)
{
    const char *address = r->useragent_ip;

    return r->user ? apr_psprintf(r->pool, "\"%s\" from %s",
                                  ap_escape_logitem(r->pool, r->user), address)
                   : address;
}

/* ---- the form ------------------------------------------------------------ */

/* A zone name is at most as long as a line of the configuration. */
#define FORM_BYTES 65536
#define FORM_PAIRS 8

typedef struct form_t {
    const char *zone; /* the zone's name */
    adm_override_t wanted;
} form_t;

/* @return the value as a string; NULL if it cannot be read or contains a
 * NUL. */
static const char *value_of(apr_pool_t *p, const ap_form_pair_t *pair)
{
    apr_size_t size;
    char *value;

    if (apr_brigade_pflatten(pair->value, &value, &size, p) != APR_SUCCESS
        || memchr(value, '\0', size)) {
        return NULL;
    }
    return apr_pstrmemdup(p, value, size);
}

/* Parse the value of `limit` or `queue`. @return an error message; NULL:
 * none. */
static const char *read_number(apr_pool_t *p, const char *key,
                               const char *value, int min, int max,
                               uint32_t *number)
{
    int parsed = admission_parse_number(value, min, max);

    if (*number != ADM_OVERRIDE_KEEP) {
        return apr_psprintf(p, "%s is given twice.", key);
    }
    if (strcmp(value, "config") == 0) {
        *number = ADM_OVERRIDE_NONE;
        return NULL;
    }
    if (parsed < 0) {
        return apr_psprintf(
            p, "%s: '%s' is not a number from %d to %d or 'config'%s.", key,
            admission_text_utf8(p, value), min, max,
            strcmp(value, "0") == 0 ? "; to stop requests, use mode=pause"
                                    : "");
    }
    *number = (uint32_t)parsed;
    return NULL;
}

static const char *read_mode(apr_pool_t *p, const char *value, uint32_t *mode)
{
    uint32_t i;

    if (*mode != ADM_OVERRIDE_KEEP) {
        return "mode is given twice.";
    }
    if (strcmp(value, "config") == 0) {
        value = adm_mode_name(ADM_MODE_OPEN);
    }
    for (i = 0; i < ADM_MODES; i++) {
        if (strcmp(value, adm_mode_name((adm_mode_t)i)) == 0) {
            *mode = i;
            return NULL;
        }
    }
    return apr_psprintf(p, "mode: '%s' is not open, pause, drain or config.",
                        admission_text_utf8(p, value));
}

static const char *read_pair(apr_pool_t *p, const char *key, const char *value,
                             form_t *form)
{
    if (!value) {
        return apr_psprintf(p, "%s: the value cannot be read.",
                            admission_text_utf8(p, key));
    }
    if (strcmp(key, "zone") == 0) {
        if (form->zone) {
            return "zone is given twice: a request changes one zone.";
        }
        form->zone = value;
        return NULL;
    }
    if (strcmp(key, "limit") == 0) {
        return read_number(p, key, value, 1, ADMISSION_LIMIT_MAX,
                           &form->wanted.limit);
    }
    if (strcmp(key, "queue") == 0) {
        return read_number(p, key, value, 0, ADMISSION_QUEUE_MAX,
                           &form->wanted.queue_length);
    }
    if (strcmp(key, "mode") == 0) {
        return read_mode(p, value, &form->wanted.mode);
    }
    return apr_psprintf(
        p, "unknown parameter '%s': use zone, limit, queue or mode.",
        admission_text_utf8(p, key));
}

/* Read the form in the body of a POST request: zone=NAME and at least one of
 * limit=N|config, queue=N|config, mode=open|pause|drain|config.
 *
 * @param wrong  set to an error message for the client; NULL: the form is valid
 * @return OK, or an error status if the body cannot be read. */
static int read_form(request_rec *r, form_t *form, const char **wrong)
{
    apr_array_header_t *pairs = NULL;
    int status = ap_parse_form_data(r, NULL, &pairs, FORM_PAIRS, FORM_BYTES);
    int i;

    *form = (form_t){ .wanted = { ADM_OVERRIDE_KEEP, ADM_OVERRIDE_KEEP,
                                  ADM_OVERRIDE_KEEP } };
    *wrong = NULL;
    if (status != OK) {
        return status;
    }
    for (i = 0; pairs && i < pairs->nelts && !*wrong; i++) {
        const ap_form_pair_t *pair = &APR_ARRAY_IDX(pairs, i, ap_form_pair_t);

        *wrong = read_pair(r->pool, pair->name, value_of(r->pool, pair), form);
    }
    if (!*wrong && !form->zone) {
        *wrong = "zone=NAME is missing. Send a form of the type "
                 "application/x-www-form-urlencoded.";
    }
    if (!*wrong && pairs->nelts == 1) {
        *wrong = "There is nothing to change: add limit=, queue= or mode=.";
    }
    return OK;
}

/* ---- apply --------------------------------------------------------------- */

/* Describe the change for the log: "limit 4 -> 8 (configured 4), mode open ->
 * pause". */
static const char *describe(apr_pool_t *p, const admission_zone_t *zone,
                            const adm_override_t *before,
                            const adm_override_t *after)
{
    const char *text = "";

    if (before->limit != after->limit) {
        text = apr_psprintf(p, ", limit %u -> %u (configured %d)",
                            before->limit, after->limit, zone->limit);
    }
    if (before->queue_length != after->queue_length) {
        text = apr_psprintf(p, "%s, queue %u -> %u (configured %d)", text,
                            before->queue_length, after->queue_length,
                            zone->queue->length);
    }
    if (before->mode != after->mode) {
        text = apr_psprintf(p, "%s, mode %s -> %s", text,
                            adm_mode_name((adm_mode_t)before->mode),
                            adm_mode_name((adm_mode_t)after->mode));
    }
    return *text ? text + 2 : "nothing changed";
}

/* Override the values of a zone, log the change, and respond. */
static int apply(request_rec *r, const form_t *form)
{
    const admission_zone_t *zone = admission_fields_find_zone(r->pool,
                                                              form->zone);
    adm_override_t before, after;
    apr_status_t rv;

    if (!zone) {
        return admission_text_no_zone(r, form->zone);
    }
    rv = adm_override_set(admission_process_child(), zone->handle,
                          &form->wanted, adm_now(), &before, &after);
    if (rv != APR_SUCCESS) {
        return admission_text_answer(
            r, HTTP_SERVICE_UNAVAILABLE,
            "Nothing was changed: a stopped process holds the zone's lock, or the "
            "zone no longer exists.");
    }
    ap_log_rerror(APLOG_MARK, APLOG_NOTICE, 0, r, ADMLOGNO(0207)
                  "zone %s: %s, by %s", zone->name,
                  describe(r->pool, zone, &before, &after), name_sender(r));
    if (apr_table_get(r->headers_in, ADMISSION_CONTROL_HEADER)) {
        return admission_json_write(r, zone, ADMISSION_WITH_NOTHING);
    }
    /* A browser: redirect to the page, so that a reload does not repeat the
     * POST. */
    apr_table_setn(r->headers_out, "Location",
                   apr_pstrcat(r->pool, ap_os_escape_path(r->pool, r->uri, 1),
                               r->args ? "?" : "", r->args, NULL));
    return HTTP_SEE_OTHER;
}

/* Check the sender, read the form and apply it. @return what a handler
 * returns. */
ADMISSION_NOT_INLINED static int handle_post(request_rec *r)
{
    form_t form;
    const char *wrong;
    int status;

    if (!admission_page_handler_is_unchanged(r)) {
        return admission_handler_refuse_page(r);
    }
    if (!admission_process_child()) {
        return HTTP_SERVICE_UNAVAILABLE;
    }
    wrong = check_sender(r);
    if (wrong) {
        ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, r, ADMLOGNO(0208)
                      "override rejected, from %s: %s", name_sender(r), wrong);
        return admission_text_answer(r, HTTP_FORBIDDEN, wrong);
    }
    status = read_form(r, &form, &wrong);
    if (status != OK) {
        return status;
    }
    return wrong ? admission_text_answer(r, HTTP_BAD_REQUEST, wrong)
                 : apply(r, &form);
}

int admission_control_handler(request_rec *r)
{
    return admission_conf_is_handler(r, ADMISSION_CONTROL_HANDLER)
                   && r->method_number == M_POST
               ? handle_post(r)
               : admission_handler_status(r);
}
