/* control_sender.c - which clients may override limits.
 *
 * Only a user that httpd has authenticated, or a client on this machine: a
 * forgotten Require then opens nothing. A foreign page in an administrator's
 * browser must not send overrides either. Such a page cannot hide its Origin,
 * and cannot set our own header.
 */
#include <stdbool.h>

#include <apr_strings.h>
#include <http_core.h>
#include <http_protocol.h>
#include <http_vhost.h>

#include "control_sender.h"

static bool is_in(apr_pool_t *p, apr_sockaddr_t *address, const char *network,
                  const char *bits)
{
    apr_ipsubnet_t *subnet;

    return apr_ipsubnet_create(&subnet, network, bits, p) == APR_SUCCESS
           && apr_ipsubnet_test(subnet, address);
}

static bool is_loopback(apr_pool_t *p, apr_sockaddr_t *address)
{
    return is_in(p, address, "127.0.0.0", "8")
           || (APR_HAVE_IPV6 && is_in(p, address, "::1", "128"));
}

/* Accept only the server's own names. An attacker can let a name resolve to our
 * address (DNS rebinding); a page of that name then has our origin. */
static bool is_own_name(request_rec *r, const char *name)
{
    return name
           && (strcasecmp(name, "localhost") == 0
               || strcmp(name, r->connection->local_ip) == 0
               || ap_matches_request_vhost(r, name, r->server->port));
}

/* A browser sends the same host and port in Host and Origin. */
static bool is_own_origin(request_rec *r, const char *origin)
{
    const char *host = apr_table_get(r->headers_in, "Host");
    const char *own = apr_pstrcat(r->pool, ap_http_scheme(r), "://",
                                  host ? host : "", NULL);

    return strcasecmp(origin, own) == 0 && is_own_name(r, r->hostname);
}

/* A client behind a proxy on this machine is not local; neither is one whose
 * request a tenant's .htaccess file sends on ([P]). A tenant cannot remove
 * these headers, because mod_proxy adds them last. */
static bool is_proxied(const request_rec *r)
{
    return apr_table_get(r->headers_in, "X-Forwarded-For")
           || apr_table_get(r->headers_in, "Forwarded")
           || apr_table_get(r->headers_in, "Via");
}

const char *admission_sender_check(request_rec *r)
{
    const char *origin = apr_table_get(r->headers_in, "Origin");
    const char *site = apr_table_get(r->headers_in, "Sec-Fetch-Site");

    if (!r->user && !is_loopback(r->pool, r->useragent_addr)) {
        return "Limits can be changed from this machine, or by a user whom httpd has "
               "authenticated (AuthType, Require user).";
    }
    if (!r->user && is_proxied(r)) {
        return "The request came through a proxy: there, only users whom httpd has "
               "authenticated may change limits (AuthType, Require user).";
    }
    if (site && strcasecmp(site, "cross-site") == 0) {
        return "The request was sent by a page of another site.";
    }
    if (origin && !is_own_origin(r, origin)) {
        return "The request was sent by a page of another site: its Origin is not "
               "this server.";
    }
    if (!origin && !apr_table_get(r->headers_in, ADMISSION_CONTROL_HEADER)) {
        return "The request needs the header " ADMISSION_CONTROL_HEADER
               ", with any value, or the Origin of this server.";
    }
    return NULL;
}

const char *admission_sender_name(request_rec *r)
{
    const char *address = r->useragent_ip;

    return r->user ? apr_psprintf(r->pool, "\"%s\" from %s",
                                  ap_escape_logitem(r->pool, r->user), address)
                   : address;
}
