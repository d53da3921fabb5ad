/* nested_local.c - which URLs lead to a program on this machine.
 *
 * Called for each request that mod_proxy sends on behalf of a request with a
 * permit.
 */
#include <httpd.h>
#include <ap_listen.h>
#include <apr_hash.h>
#include <apr_strings.h>
#include <apr_uri.h>
#include <http_main.h>
#include <pthread.h>

#include "nested_local.h"

/* ---- loopback addresses -------------------------------------------------- */

#define HOSTS 64
#define HOST_ROOM 256 /* longer names cannot be resolved */

/* Cache of name lookups; a name is resolved once per child, as in mod_proxy. A
 * name's hash is its slot, so that clients that make mod_proxy look up
 * arbitrary names cannot fill memory. */
static struct host_t {
    char name[HOST_ROOM];
    bool is_loopback;
} hosts[HOSTS];
static pthread_mutex_t hosts_lock = PTHREAD_MUTEX_INITIALIZER;

bool admission_local_is_loopback(const apr_sockaddr_t *address)
{
#if APR_HAVE_IPV6
    if (address->family == APR_INET6) {
        const struct in6_addr *ip = &address->sa.sin6.sin6_addr;

        return IN6_IS_ADDR_LOOPBACK(ip)
               || (IN6_IS_ADDR_V4MAPPED(ip) && ip->s6_addr[12] == 127);
    }
#endif
    return address->family == APR_INET
           && ntohl(address->sa.sin.sin_addr.s_addr) >> 24 == 127;
}

/* Look a name up. @a is_loopback is set to whether all its addresses are
 * loopback, because mod_proxy can connect to any of them. @return false: the
 * look-up failed. The host in the URL of a Unix socket need not resolve. */
static bool resolve(apr_pool_t *p, const char *name, bool *is_loopback)
{
    apr_sockaddr_t *address;

    *is_loopback = false;
    if (apr_sockaddr_info_get(&address, name, APR_UNSPEC, 0, 0, p)
        != APR_SUCCESS) {
        return false;
    }
    while (address && admission_local_is_loopback(address)) {
        address = address->next;
    }
    *is_loopback = address == NULL;
    return true;
}

/* resolve() with the cache, which stores no failure, because DNS might work
 * again for the next request. */
static bool is_loopback_host(apr_pool_t *p, const char *name)
{
    apr_ssize_t length = APR_HASH_KEY_STRING;
    struct host_t *host = &hosts[apr_hashfunc_default(name, &length) % HOSTS];
    bool is_known, is_loopback;

    pthread_mutex_lock(&hosts_lock);
    is_known = strcmp(host->name, name) == 0;
    is_loopback = is_known && host->is_loopback;
    pthread_mutex_unlock(&hosts_lock);
    if (is_known || length >= HOST_ROOM) {
        return is_loopback;
    }
    if (!resolve(p, name, &is_loopback)) {
        return false;
    }
    pthread_mutex_lock(&hosts_lock);
    apr_cpystrn(host->name, name, sizeof(host->name));
    host->is_loopback = is_loopback;
    pthread_mutex_unlock(&hosts_lock);
    return is_loopback;
}

/* ---- addresses of this server -------------------------------------------- */

static bool is_any(const char *ip)
{
    return strcmp(ip, "0.0.0.0") == 0 || strcmp(ip, "::") == 0;
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

/* @return whether a host is a ServerName or ServerAlias. Such a name can
 * resolve to an outside address that leads back here. If it leads to another
 * machine, the header does no harm: its tickets mean nothing there. */
static bool is_own_name(const char *host)
{
    const server_rec *s;

    for (s = ap_server_conf; s; s = s->next) {
        if ((s->server_hostname && strcasecmp(s->server_hostname, host) == 0)
            || is_among(s->names, host)) {
            return true;
        }
    }
    return false;
}

/* @return whether the server listens on this port with this address: the
 * address of a listener; if that is the wildcard, the address of the
 * connection; or one of the server's names. */
static bool is_own_address(const char *local_ip, const char *host,
                           apr_port_t port)
{
    const ap_listen_rec *listener;

    for (listener = ap_listeners; listener; listener = listener->next) {
        char ip[64];

        if (listener->bind_addr->port == port
            && apr_sockaddr_ip_getbuf(ip, sizeof(ip), listener->bind_addr)
                   == APR_SUCCESS
            && (strcmp(ip, host) == 0
                || (is_any(ip) && local_ip && strcmp(host, local_ip) == 0)
                || is_own_name(host))) {
            return true;
        }
    }
    return false;
}

/* ---- URLs ---------------------------------------------------------------- */

/* @return the HTTP scheme that a scheme of mod_proxy stands for: h2 and wss are
 * https, h2c and ws are http; NULL: the URL is not HTTP. */
static const char *http_scheme_of(const char *scheme)
{
    if (strcasecmp(scheme, "h2") == 0 || strcasecmp(scheme, "wss") == 0) {
        return "https";
    }
    if (strcasecmp(scheme, "h2c") == 0 || strcasecmp(scheme, "ws") == 0) {
        return "http";
    }
    return strncasecmp(scheme, "http", 4) == 0 ? scheme : NULL;
}

bool admission_local_url(apr_pool_t *p, const char *url, const char *local_ip)
{
    const char *scheme;
    apr_uri_t uri;

    if (apr_uri_parse(p, url, &uri) != APR_SUCCESS || !uri.scheme
        || !uri.hostname) {
        return false;
    }
    scheme = http_scheme_of(uri.scheme);
    if (!scheme) {
        return false;
    }
    return is_own_address(local_ip, uri.hostname,
                          uri.port ? uri.port : apr_uri_port_of_scheme(scheme))
           || is_loopback_host(p, uri.hostname);
}
