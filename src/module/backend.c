/* backend.c - which backend mod_proxy sends a request to, and whether it
 * switches to another protocol.
 */
#include <httpd.h>
#include <util_filter.h>

#include "backend.h"
#include "countable.h"
#include "url.h"

/* ---- which backend ------------------------------------------------------- */

static bool has_scheme(const char *url, const char *scheme)
{
    apr_size_t length = strlen(scheme);

    return strncasecmp(url, scheme, length) == 0 && url[length] == ':';
}

const char *admission_backend_url(const request_rec *r)
{
    const char *name = r->filename, *url;

    if (!admission_backend_is_name(name)) {
        name = r->handler; /* mod_proxy sets it as the filename later */
    }
    if (!admission_backend_is_name(name)) {
        return NULL;
    }
    url = name + strlen(ADMISSION_BACKEND);
    return has_scheme(url, "balancer")
               ? apr_table_get(r->subprocess_env, "BALANCER_WORKER_NAME")
               : url;
}

/* The HTTP URL of a backend, also if it follows the path of a Unix socket
 * ("unix:/path|http://host"); NULL: none. */
static const char *url_behind_socket(const request_rec *r)
{
    const char *url = admission_backend_url(r);
    const char *end = url && has_scheme(url, "unix") ? strchr(url, '|') : NULL;

    return end ? end + 1 : url;
}

bool admission_backend_speaks_http(const request_rec *r)
{
    const char *url = url_behind_socket(r);

    return url
           && (has_scheme(url, "http") || has_scheme(url, "https")
               || has_scheme(url, "ws") || has_scheme(url, "wss"));
}

bool admission_backend_speaks_http2(const request_rec *r)
{
    const char *url = url_behind_socket(r);

    return url && (has_scheme(url, "h2") || has_scheme(url, "h2c"));
}

/* ---- switches ------------------------------------------------------------ */

/* After a 101 response the connection is a tunnel, for example a WebSocket,
 * which is open for hours and almost idle. The handler returns only when the
 * tunnel ends. So a connection filter checks for the 101: mod_proxy_http sends
 * it itself, mod_proxy_wstunnel passes on the backend's response. In both cases
 * it is the first data of the response.
 */
static ap_filter_rec_t *upgrade_filter;

/* State of the filter, which stays on the connection and serves one request
 * after the other. */
typedef struct upgrade_t {
    const request_rec *r;
    adm_ticket_t *ticket; /* NULL: no request is watched */
} upgrade_t;

/* ---- which responses ----------------------------------------------------- */

/* What the first bytes of a response show: nothing yet, status 101 (a switch to
 * another protocol), or an ordinary response. */
typedef enum { NOTHING_YET, SWITCHES, RESPONDS } begin_t;

/* Classify the first bytes of a response. Another response follows one with a
 * status 1xx. */
static begin_t classify(const char *data, apr_size_t length)
{
    static const char version[] = "HTTP/1.";
    const char *status = data + strlen(version) + 2; /* "1 " */

    if (length < strlen(version) + 5
        || strncmp(data, version, strlen(version)) != 0) {
        return RESPONDS;
    }
    if (strncmp(status, "101", 3) == 0) {
        return SWITCHES;
    }
    return *status == '1' ? NOTHING_YET : RESPONDS;
}

/* Classify the first data in a brigade. Both modules send it from memory, so
 * the read does not block. */
static begin_t classify_brigade(apr_bucket_brigade *bb)
{
    const char *data;
    apr_size_t length;
    apr_bucket *b;

    for (b = APR_BRIGADE_FIRST(bb); b != APR_BRIGADE_SENTINEL(bb);
         b = APR_BUCKET_NEXT(b)) {
        if (!APR_BUCKET_IS_METADATA(b)) {
            return apr_bucket_read(b, &data, &length, APR_NONBLOCK_READ)
                           == APR_SUCCESS
                       ? classify(data, length)
                       : RESPONDS;
        }
    }
    return NOTHING_YET;
}

/* ---- the filter ---------------------------------------------------------- */

/* The filter: release the ticket after a 101 response has been passed on. From
 * FastCGI and the like, 101 is an ordinary status that a program has chosen. */
static apr_status_t watch_response(ap_filter_t *f, apr_bucket_brigade *bb)
{
    upgrade_t *watched = f->ctx;
    adm_ticket_t *ticket = watched->ticket;
    begin_t begin = ticket ? classify_brigade(bb) : NOTHING_YET;
    apr_status_t rv = ap_pass_brigade(f->next, bb);

    if (begin != NOTHING_YET) {
        watched->ticket = NULL;
    }
    if (begin == SWITCHES && admission_backend_speaks_http(watched->r)) {
        adm_ticket_release(ticket, adm_now());
    }
    return rv;
}

void admission_backend_register_filter(void)
{
    /* Above TLS, and below all filters of requests. */
    upgrade_filter = ap_register_output_filter("ADMISSION_UPGRADE",
                                               watch_response, NULL,
                                               AP_FTYPE_CONNECTION);
}

/* ---- the request --------------------------------------------------------- */

static upgrade_t *watched_of(conn_rec *c)
{
    ap_filter_t *f = c->output_filters;

    while (f && f->frec != upgrade_filter) {
        f = f->next;
    }
    return f ? f->ctx : NULL;
}

/* Not for HTTP/2: a stream occupies a thread of mod_http2 for as long as its
 * tunnel is open, so it keeps its permit as well. */
bool admission_backend_watch(request_rec *r, adm_ticket_t *ticket)
{
    conn_rec *c = r->connection;
    upgrade_t *watched;

    if (!apr_table_get(r->headers_in, "Upgrade") || c->master
        || admission_countable_all(admission_url_conf(r))) {
        return false;
    }
    watched = watched_of(c);
    if (!watched) {
        watched = apr_pcalloc(c->pool, sizeof(*watched));
        ap_add_output_filter_handle(upgrade_filter, watched, r, c);
    }
    watched->r = r;
    watched->ticket = ticket;
    return true;
}

void admission_backend_unwatch(request_rec *r)
{
    upgrade_t *watched = watched_of(r->connection);

    if (watched) {
        watched->ticket = NULL;
    }
}
