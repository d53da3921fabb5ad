/* mod_admission_own.c - which URLs lead to this very server. */
#include <httpd.h>
#include <ap_listen.h>
#include <http_main.h>

#include "server/mod_admission_own.h"

static bool is_any(const char *ip)
{
    return strcmp(ip, "0.0.0.0") == 0 || strcmp(ip, "::") == 0;
}

static bool is_loopback(const char *ip)
{
    return strncmp(ip, "127.", 4) == 0 || strcmp(ip, "::1") == 0;
}

static bool is_among(const apr_array_header_t *names, const char *host)
{
    int i;

    for (i = 0; names && i < names->nelts; i++) {
        const char *name = APR_ARRAY_IDX(names, i, const char *);

        if (name && strcasecmp(name, host) == 0) {
            return true;
        }
    }
    return false;
}

/* A ServerName or ServerAlias. Names are not resolved: if this one leads to
 * another machine, that one gets words that mean nothing to it. */
static bool has_name(const server_rec *s, const char *host)
{
    return (s->server_hostname && strcasecmp(s->server_hostname, host) == 0)
           || is_among(s->names, host);
}

static const server_rec *named(const char *host)
{
    const server_rec *s;

    for (s = ap_server_conf; s && !has_name(s, host); s = s->next) {
    }
    return s;
}

/* An address on which this very server listens, or a name of its own. */
static bool is_own_address(const char *local_ip, const char *host,
                           apr_port_t port)
{
    const ap_listen_rec *listener;

    host = strcasecmp(host, "localhost") == 0 ? "127.0.0.1" : host;
    for (listener = ap_listeners; listener; listener = listener->next) {
        char ip[64];

        if (listener->bind_addr->port == port
            && apr_sockaddr_ip_getbuf(ip, sizeof(ip), listener->bind_addr)
                   == APR_SUCCESS
            && (strcmp(ip, host) == 0
                || (is_any(ip)
                    && (is_loopback(host)
                        || (local_ip && strcmp(host, local_ip) == 0)))
                || named(host))) {
            return true;
        }
    }
    return false;
}

/* Of HTTP/2 as mod_proxy_http2 names it. NULL: no HTTP. */
static const char *http_scheme_of(const char *scheme)
{
    if (strcasecmp(scheme, "h2") == 0) {
        return "https";
    }
    if (strcasecmp(scheme, "h2c") == 0) {
        return "http";
    }
    return strncasecmp(scheme, "http", 4) == 0 ? scheme : NULL;
}

bool admission_own_url(apr_pool_t *p, const char *url, const char *local_ip,
                       apr_uri_t *uri)
{
    const char *scheme;

    if (apr_uri_parse(p, url, uri) != APR_SUCCESS || !uri->scheme
        || !uri->hostname) {
        return false;
    }
    scheme = http_scheme_of(uri->scheme);
    if (!scheme) {
        return false;
    }
    if (!uri->port) {
        uri->port = apr_uri_port_of_scheme(scheme);
    }
    return is_own_address(local_ip, uri->hostname, uri->port);
}

static bool has_port(const server_rec *s, apr_port_t port)
{
    const server_addr_rec *address;

    for (address = s->addrs; address; address = address->next) {
        if (address->host_port == port || address->host_port == 0) {
            return true;
        }
    }
    return false;
}

const server_rec *admission_own_server(const apr_uri_t *uri)
{
    const server_rec *s;

    for (s = ap_server_conf->next; s; s = s->next) {
        if (has_port(s, uri->port) && has_name(s, uri->hostname)) {
            return s;
        }
    }
    for (s = ap_server_conf->next; s && !has_port(s, uri->port); s = s->next) {
    }
    return s ? s : ap_server_conf;
}
