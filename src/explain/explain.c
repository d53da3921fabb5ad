/* explain.c - ?explain=URL: what applies to a URL, and why.
 *
 * A subrequest looks up the URL, with the given host, method and client, and the login
 * of this request. Its handler is not run. Results that depend on other headers are
 * reported as uncertain.
 */
#include <arpa/inet.h>

#include <httpd.h>
#include <ap_provider.h>
#include <apr_lib.h>
#include <apr_strings.h>
#include <apr_uri.h>
#include <http_config.h>
#include <http_core.h>
#include <http_main.h>
#include <http_protocol.h>
#include <http_request.h>
#include <http_vhost.h>

#include "explain.h"
#include "module/page_handler.h"
#include "module/part.h"
#include "module/zones.h"
#include "module/countable.h"
#include "nested/nested_redirect.h"
#include "fair/fair_key.h"
#include "module/url.h"
#include "module/process.h"
#include "view/view_outputs.h"
#include "view/view_query.h"
#include "view/view_text.h"

#define URL_MAX 4096

#define ONCE \
    "explain=, method=, host= and client= are given once, and encoded as in a URL."

/* One line of the text, one member of the JSON. */
typedef struct fact_t {
    const char *label;
    const char *key;
    const char *value;
} fact_t;

/* Paths are decoded, so they can contain control sequences for a terminal. */
static const char *without_control_characters(apr_pool_t *p, const char *text)
{
    char *copy = apr_pstrdup(p, text);
    char *c;

    for (c = copy; *c; c++) {
        if (apr_iscntrl(*c)) {
            *c = '?';
        }
    }
    return admission_text_utf8(p, copy);
}

/* Add a line. @param format  as of apr_psprintf() */
__attribute__((format(printf, 4, 5))) static void
add_fact(explain_t *e, const char *label, const char *key, const char *format,
         ...)
{
    va_list values;

    va_start(values, format);
    APR_ARRAY_PUSH(e->facts, fact_t) = (fact_t){
        label, key,
        without_control_characters(e->p, apr_pvsprintf(e->p, format, values))
    };
    va_end(values);
}

void admission_explain_note(explain_t *e, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    APR_ARRAY_PUSH(e->notes, const char *) =
        without_control_characters(e->p, apr_pvsprintf(e->p, format, values));
    va_end(values);
}

/* ---- query --------------------------------------------------------------- */

static bool has_control_character(const char *text)
{
    for (; *text && !apr_iscntrl(*text); text++) {
    }
    return *text != '\0';
}

/* @return an error message; NULL if the value is valid. */
static const char *read_url(explain_t *e, const char *url)
{
    apr_uri_t uri;

    if (strlen(url) > URL_MAX || has_control_character(url)) {
        return "explain= takes a URL of at most " APR_STRINGIFY(
            URL_MAX) " bytes without control characters.";
    }
    if (*url != '/'
        && (apr_uri_parse(e->p, url, &uri) != APR_SUCCESS || !uri.scheme
            || !uri.hostname
            || (strcasecmp(uri.scheme, "http") != 0
                && strcasecmp(uri.scheme, "https") != 0))) {
        return "explain= takes a path such as /search, or a URL such as "
               "http://www.example.com/search.";
    }
    e->path = url;
    if (*url != '/') {
        e->host = uri.hostname;
        e->path = apr_pstrcat(e->p, uri.path ? uri.path : "/",
                              uri.query ? "?" : NULL, uri.query, NULL);
    }
    return NULL;
}

/* Reject TRACE: httpd would respond to it during the look-up, into this page. */
static const char *read_method(explain_t *e, const char *method)
{
    int number;

    e->method = method ? method : "GET";
    number = ap_method_number_of(e->method);
    return number == M_INVALID || number == M_TRACE
               ? "method= takes a method that httpd knows, such as GET or POST, "
                 "and not TRACE, for which no handler runs."
               : NULL;
}

static const char *read_client(explain_t *e, const char *client)
{
    unsigned char address[16];

    if (!client) {
        return NULL;
    }
    /* Rejects names, which would be resolved. */
    if ((inet_pton(AF_INET, client, address) == 1
         || inet_pton(AF_INET6, client, address) == 1)
        && apr_sockaddr_info_get(&e->client, client, APR_UNSPEC, 0, 0, e->p)
               == APR_SUCCESS) {
        return NULL;
    }
    return "client= takes an address of IPv4 or IPv6, such as 192.0.2.7.";
}

/* httpd compares with the names of r->server, so that is replaced for the call. */
static bool is_host_of(request_rec *r, server_rec *server, const char *host)
{
    server_rec *own = r->server;
    bool is_host;

    r->server = server;
    is_host = ap_matches_request_vhost(r, host, server->port);
    r->server = own;
    return is_host;
}

/* Choose the server of the host: this request's if it has that name, or the first. */
static const char *read_host(explain_t *e, const char *host)
{
    server_rec *server;

    e->server = e->r->server;
    if (host && e->host && strcasecmp(host, e->host) != 0) {
        return "host= and the host of the URL differ.";
    }
    e->host = host ? host : e->host;
    if (!e->host || is_host_of(e->r, e->server, e->host)) {
        return NULL;
    }
    for (server = ap_server_conf; server; server = server->next) {
        if (is_host_of(e->r, server, e->host)) {
            e->server = server;
            return NULL;
        }
    }
    return "No server of this httpd has this host as its ServerName or ServerAlias.";
}

/* @return an error message; NULL if the query is valid. */
static const char *read_query(explain_t *e, bool *as_json)
{
    const char *url = NULL, *method = NULL, *host = NULL, *client = NULL;
    const char *output;
    const admission_parameter_t parameters[] = { { "explain", &url, ONCE },
                                                 { "method", &method, ONCE },
                                                 { "host", &host, ONCE },
                                                 { "client", &client, ONCE },
                                                 { NULL, NULL, NULL } };
    const char *wrong = admission_query_read(e->p, e->r->args, parameters,
                                             &output);

    *as_json = strcmp(output, "json") == 0;
    if (!wrong && *output && !*as_json) {
        wrong = "explain=URL is answered as text, or with json.";
    }
    wrong = wrong ? wrong : read_url(e, url);
    wrong = wrong ? wrong : read_method(e, method);
    wrong = wrong ? wrong : read_client(e, client);
    return wrong ? wrong : read_host(e, host);
}

/* ---- look up -------------------------------------------------------------- */

/* Look up the URL by a subrequest of this request, which is changed for the call: the
 * subrequest inherits host, client and login. */
static request_rec *look_up(explain_t *e)
{
    request_rec *r = e->r;
    request_rec own = *r;
    request_rec *first;
    const char *login = apr_table_get(r->headers_in, "Authorization");

    r->headers_in = apr_table_make(e->p, 2);
    r->subprocess_env = apr_table_make(e->p, 2);
    r->server = e->server;
    if (e->host) {
        r->hostname = e->host;
    }
    apr_table_setn(r->headers_in, "Host",
                   r->hostname ? r->hostname : e->server->server_hostname);
    if (login) {
        apr_table_setn(r->headers_in, "Authorization", login);
    }
    if (e->client) {
        r->useragent_addr = e->client;
        apr_sockaddr_ip_get(&r->useragent_ip, e->client);
    }
    first = ap_sub_req_method_uri(e->method, e->path, r, NULL);
    admission_redirect_set_handler(first);
    if (first->status == HTTP_OK && admission_countable_is_rewritten(first)) {
        /* A rewrite rule for all URLs has replaced the handler of the module's pages. */
        const char *page = admission_page_handler_of(first);

        first->handler = page ? page : first->handler;
    }
    r->headers_in = own.headers_in;
    r->subprocess_env = own.subprocess_env;
    r->server = own.server;
    r->hostname = own.hostname;
    r->useragent_addr = own.useragent_addr;
    r->useragent_ip = own.useragent_ip;
    return first;
}

/* ---- facts ---------------------------------------------------------------- */

static const char *usec_text(apr_pool_t *p, adm_usec_t usec)
{
    return usec % ADM_USEC_PER_SEC == 0
               ? apr_psprintf(p, "%" APR_INT64_T_FMT " s",
                              usec / ADM_USEC_PER_SEC)
               : apr_psprintf(p, "%" APR_INT64_T_FMT " ms",
                              usec / ADM_USEC_PER_MSEC);
}

static void add_limit(explain_t *e, const admission_section_t *section)
{
    const admission_zone_t *zone = section->zone;
    adm_zone_stats_t stats;
    const char *origin = admission_explain_name(e, section);

    if (adm_view_zone(admission_process_child(), zone->handle, adm_now(),
                      &stats, NULL)
        != APR_SUCCESS) {
        add_fact(e, "limit", "limit", "%s", origin);
        return;
    }
    if (stats.is_overridden) {
        origin = apr_psprintf(e->p, "%s, changed by an override; %s", origin,
                              adm_mode_name(stats.mode));
    }
    else if (zone->max_concurrent.is_auto) {
        origin = apr_pstrcat(e->p, origin, ", set by auto", NULL);
    }
    add_fact(e, "limit", "limit", "%u", stats.limit);
    add_fact(e, "set by", "limitFrom", "%s", origin);
    add_fact(e, "now", "now", "%u run, %u wait", stats.active, stats.queued);
}

static void add_queue(explain_t *e, const admission_dir_conf_t *conf)
{
    const admission_queue_t *queue = admission_conf_queue(conf);

    add_fact(e, "queue", "queue", "%d, timeout %s%s%s", queue->length,
             usec_text(e->p, queue->timeout), queue->target ? ", target " : "",
             queue->target ? usec_text(e->p, queue->target) : "");
}

static void add_rejection(explain_t *e, const admission_dir_conf_t *conf)
{
    int status = admission_conf_reject_status(conf);

    if (conf->retry > 0) {
        add_fact(e, "rejected with", "rejectedWith", "%d, Retry-After %d",
                 status, conf->retry);
        return;
    }
    add_fact(e, "rejected with", "rejectedWith", "%d, %s", status,
             conf->retry == ADMISSION_RETRY_OFF
                 ? "no Retry-After"
                 : "Retry-After estimated from the queue");
}

/* Add the key, priority and cost that the request would have. @return whether
 * they depend on the request: a real request might have others. */
static bool add_key_and_cost(explain_t *e, request_rec *first,
                             request_rec *last,
                             const admission_dir_conf_t *conf)
{
    adm_entry_t entry = { 0 };

    if (!conf->fair.key && !conf->fair.priorities && !conf->fair.costs) {
        return false;
    }
    admission_key_ask(admission_url_view(last, first), conf,
                      admission_conf_zone(conf), &entry);
    if (entry.key_name) {
        add_fact(e, "key", "key", "%s", entry.key_name);
    }
    if (entry.key_max) {
        add_fact(e, "permits of a key", "keyMax", "%u", entry.key_max);
    }
    add_fact(e, "priority", "priority", "%s",
             adm_priority_name(entry.priority));
    add_fact(e, "cost", "cost", "%u", entry.cost);
    return true;
}

static void add_zone(explain_t *e, request_rec *first, request_rec *last,
                     const admission_dir_conf_t *conf)
{
    bool depends = conf->exempt != NULL;
    bool is_exempt = depends && admission_url_is_exempt(last, first, conf);

    add_fact(e, "zone", "zone", "%s", admission_conf_zone(conf)->name);
    if (is_exempt) {
        add_fact(e, "exempt", "exempt",
                 "yes, by AdmissionExempt in %s: it runs immediately, in any "
                 "state of the zone",
                 conf->exempt_place);
    }
    add_limit(e, conf->section);
    add_queue(e, conf);
    if (admission_conf_is_dry_run(conf)) {
        admission_explain_note(
            e, "AdmissionDryRun is On: nothing is delayed or rejected.");
    }
    depends |= add_key_and_cost(e, first, last, conf);
    add_rejection(e, conf);
    if (depends) {
        admission_explain_note(
            e,
            "Expressions were evaluated for a request with a Host and "
            "no other headers. A real request can also have cookies, a "
            "User-Agent, variables of SetEnvIf and a login, which are unknown "
            "here.");
    }
}

static const char *why_counted(const admission_dir_conf_t *conf,
                               const request_rec *r, bool counts)
{
    if (conf->handlers) {
        return counts ? "yes: AdmissionHandlers includes the handler"
                      : "no: AdmissionHandlers does not include the handler";
    }
    if (counts && admission_countable_file(r) && r->proxyreq == PROXYREQ_NONE) {
        return "yes: it has no handler, so another module might serve it";
    }
    return counts
               ? "yes: all handlers count, except those for files, directories "
                 "and status pages"
               : "no: httpd serves it itself: a file, a directory index or a "
                 "page of httpd";
}

/* Add whether the request counts, and the limit that applies, or why none does. */
static void add_verdict(explain_t *e, request_rec *first, request_rec *last)
{
    const admission_dir_conf_t *conf = first == last
                                           ? admission_url_conf(first)
                                           : admission_url_conf_of_target(first,
                                                                          last);
    const admission_zone_t *zone = admission_conf_zone(conf);
    bool counts = admission_counts(conf, last);

    add_fact(e, "counts", "counts", "%s",
             counts && !zone ? "no: its handler would count, but no limit "
                               "applies to it"
                             : why_counted(conf, last, counts));
    if (!zone) {
        add_fact(e, "zone", "zone", "none: %s",
                 conf->section ? admission_explain_name(e, conf->section)
                               : "no MaxConcurrent applies to it");
    }
    else if (counts) {
        add_zone(e, first, last, conf);
    }
    else {
        add_fact(e, "zone", "zone", "none: it does not count");
        admission_explain_note(e,
                               "%s does not apply: the request does not count",
                               admission_explain_name(e, conf->section));
    }
    admission_explain_sections(e, first, last, conf->section);
    if (last->finfo.filetype == APR_NOFILE && admission_countable_file(last)
        && !counts) {
        admission_explain_note(
            e, "The file does not exist. If an ErrorDocument 404 serves this "
               "URL, the sections of the URL apply to the error document.");
    }
}

static void describe(explain_t *e, request_rec *first)
{
    request_rec *last;

    add_fact(e, "URL", "url", "%s", e->path);
    add_fact(e, "server", "server", "%s",
             admission_zones_server(e->p, e->server));
    add_fact(e, "request", "request", "%s from %s", e->method,
             e->client ? first->useragent_ip : e->r->useragent_ip);
    if (first->status != HTTP_OK) {
        add_fact(e, "answer", "answer",
                 "%d, before a handler runs: nothing counts", first->status);
        return;
    }
    add_fact(e, "handler", "handler", "%s", first->handler);
    last = admission_redirect_follow(first);
    if (!last) {
        admission_explain_note(
            e, "httpd redirects it internally to a URL that it refuses, or "
               "more than four times: the final URL is unknown.");
        return;
    }
    if (last != first || strcmp(last->uri, first->parsed_uri.path) != 0) {
        add_fact(e, "leads to", "leadsTo", "%s, handler %s", last->uri,
                 last->handler);
    }
    add_fact(e, "file", "file", "%s", last->filename ? last->filename : "none");
    add_verdict(e, first, last);
}

/* ---- write ---------------------------------------------------------------- */

static int write_text(explain_t *e)
{
    int i;

    ap_set_content_type(e->r, "text/plain; charset=utf-8");
    for (i = 0; i < e->facts->nelts; i++) {
        const fact_t *fact = &APR_ARRAY_IDX(e->facts, i, fact_t);

        ap_rprintf(e->r, "%-14s %s\n", fact->label, fact->value);
    }
    for (i = 0; i < e->notes->nelts; i++) {
        ap_rvputs(e->r, i ? "" : "\n", "- ",
                  APR_ARRAY_IDX(e->notes, i, const char *), "\n", NULL);
    }
    return OK;
}

static int write_json(explain_t *e)
{
    int i;

    ap_set_content_type(e->r, "application/json");
    ap_rputs("{\"version\":1", e->r);
    for (i = 0; i < e->facts->nelts; i++) {
        const fact_t *fact = &APR_ARRAY_IDX(e->facts, i, fact_t);

        ap_rvputs(e->r, ",\"", fact->key, "\":", NULL);
        admission_json_string(e->r, fact->value);
    }
    ap_rputs(",\"notes\":[", e->r);
    for (i = 0; i < e->notes->nelts; i++) {
        ap_rputs(i ? "," : "", e->r);
        admission_json_string(e->r, APR_ARRAY_IDX(e->notes, i, const char *));
    }
    ap_rputs("]}\n", e->r);
    return OK;
}

static int write_explain(request_rec *r)
{
    explain_t e = { .r = r,
                    .p = r->pool,
                    .facts = apr_array_make(r->pool, 16, sizeof(fact_t)),
                    .notes = apr_array_make(r->pool, 4, sizeof(const char *)) };
    bool as_json;
    const char *wrong = read_query(&e, &as_json);

    if (wrong) {
        return admission_text_answer(r, HTTP_BAD_REQUEST, wrong);
    }
    describe(&e, look_up(&e));
    return as_json ? write_json(&e) : write_text(&e);
}

static void register_hooks(apr_pool_t *p)
{
    static const admission_output_t output = { write_explain };

    ap_register_provider(p, ADMISSION_OUTPUT_GROUP, "explain", "0", &output);
}

const admission_part_t admission_part_explain = {
    .register_hooks = register_hooks
};
