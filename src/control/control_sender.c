/* control_sender.c - who may give orders: nobody by accident.
 *
 * An order needs a user whom httpd has authenticated, or a client on this machine,
 * so that a forgotten Require is no hole. And it must not come from a page of
 * somebody else in the browser of one who may: such a page cannot hide where it is
 * from (Origin), and cannot set a header of ours.
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

/* Whoever owns a name can have it lead to our address, and then his page is of
 * the same origin as we are: only names that are ours. */
static bool is_own_name(request_rec *r, const char *name)
{
    return name
           && (strcasecmp(name, "localhost") == 0
               || strcmp(name, r->connection->local_ip) == 0
               || ap_matches_request_vhost(r, name, r->server->port));
}

/* A browser writes the same host and port into both headers. */
static bool is_own_origin(request_rec *r, const char *origin)
{
    const char *host = apr_table_get(r->headers_in, "Host");
    const char *own = apr_pstrcat(r->pool, ap_http_scheme(r), "://",
                                  host ? host : "", NULL);

    return strcasecmp(origin, own) == 0 && is_own_name(r, r->hostname);
}

/* Whoever asks a proxy on this machine is none of it; nor is whoever has a customer's
 * .htaccess send the request on ([P]), which cannot take these headers away:
 * mod_proxy adds them last. */
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
        return "Orders are taken from this machine, or from a user whom httpd has "
               "authenticated (AuthType, Require user).";
    }
    if (!r->user && is_proxied(r)) {
        return "The order comes through a proxy: from there only users whom httpd "
               "has authenticated may give any.";
    }
    if (site && strcasecmp(site, "cross-site") == 0) {
        return "The order comes from a page of another site.";
    }
    if (origin && !is_own_origin(r, origin)) {
        return "The order comes from a page of another site: its Origin is not "
               "this server.";
    }
    if (!origin && !apr_table_get(r->headers_in, ADMISSION_CONTROL_HEADER)) {
        return "An order needs the header " ADMISSION_CONTROL_HEADER
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
