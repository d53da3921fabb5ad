/* redis_address.c - the arguments of AdmissionEngine for Redis. */
#include <stdlib.h>
#include <string.h>

#include <apr_network_io.h>
#include <apr_strings.h>
#include <apr_uri.h>

#include "redis_address.h"

#define DEFAULT_PORT 6379
#define SENTINEL_PORT 26379
#define DEFAULT_TIMEOUT_USEC INT64_C(500000)

static const char *bad_url(apr_pool_t *p, const char *url)
{
    return apr_psprintf(p,
                        "'%s' is not redis://host[:port][/database], "
                        "rediss:// for TLS, or unix:/path/of/socket",
                        url);
}

static bool read_timeout(const char *text, int64_t *timeout_usec)
{
    char *rest;
    long number = strtol(text, &rest, 10);

    if (rest == text || number < 1 || number > 60000) {
        return false;
    }
    if (strcmp(rest, "s") == 0) {
        *timeout_usec = (int64_t)number * 1000000;
    }
    else if (strcmp(rest, "ms") == 0) {
        *timeout_usec = (int64_t)number * 1000;
    }
    else {
        return false;
    }
    return *timeout_usec >= 10000 && *timeout_usec <= 5000000;
}

/* Look up a host and add it. Done in the parent, because the agent must not
 * block for DNS. @return an error, or NULL. */
static const char *look_up(apr_pool_t *p, const char *name, int port,
                           engine_address_t *to)
{
    redis_place_t *place = &to->places[to->count];
    apr_sockaddr_t *found;
    char *number;

    if (to->count == REDIS_ADDRESS_PLACES) {
        return apr_psprintf(p, "'%s' is one host too many: the maximum is %d",
                            name, REDIS_ADDRESS_PLACES);
    }
    if (apr_sockaddr_info_get(&found, name, APR_UNSPEC, (apr_port_t)port, 0, p)
            != APR_SUCCESS
        || apr_sockaddr_ip_get(&number, found) != APR_SUCCESS) {
        return apr_psprintf(p, "the address of '%s' is not found", name);
    }
    apr_cpystrn(place->host, number, sizeof(place->host));
    apr_cpystrn(place->name, name, sizeof(place->name));
    place->port = port;
    to->count++;
    return NULL;
}

/* Read another host: "host[:port]". */
static const char *read_host(apr_pool_t *p, const char *option,
                             engine_address_t *to)
{
    char *host, *scope;
    apr_port_t port;

    if (to->path
        || apr_parse_addr_port(&host, &scope, &port, option, p) != APR_SUCCESS
        || !host || scope) {
        return apr_psprintf(p, "'%s' is not %s", option,
                            to->path ? "an option of unix:, which has no hosts"
                                     : "host[:port]");
    }
    return look_up(p, host, port, to);
}

static const char *read_option(apr_pool_t *p, const char *option,
                               engine_address_t *to, const char **tls)
{
    const char *error;

    if (!strchr(option, '=')) {
        return read_host(p, option, to);
    }
    if (strncmp(option, "sentinel=", 9) == 0 && option[9]) {
        to->sentinel = option + 9;
        return NULL;
    }
    if (strncmp(option, "tls=", 4) == 0) {
        *tls = option;
        return NULL;
    }
    if (strncmp(option, "tls-name=", 9) == 0 && option[9]) {
        to->tls_name = option + 9;
        to->has_any_name = strcmp(to->tls_name, "off") == 0;
        return NULL;
    }
    if (redis_login_read(p, option, "user=", "password-file=", &to->login,
                         &error)
        || redis_login_read(p, option, "sentinel-user=",
                            "sentinel-password-file=", &to->sentinel_login,
                            &error)) {
        return error;
    }
    if (strncmp(option, "timeout=", 8) == 0
        && read_timeout(option + 8, &to->timeout_usec)) {
        return NULL;
    }
    return apr_psprintf(p,
                        "'%s' is not host[:port], sentinel=name, user=name, "
                        "password-file=path, sentinel-user=name, "
                        "sentinel-password-file=path, "
                        "tls=ca-file[,certificate,key], tls-name=name, "
                        "tls-name=off or timeout=time with a time from 10ms "
                        "to 5s",
                        option);
}

static bool is_tls(const char *url)
{
    return strncmp(url, "rediss:", 7) == 0;
}

static const char *read_url(apr_pool_t *p, const char *url,
                            engine_address_t *to)
{
    apr_uri_t uri;
    long port;

    if (strncmp(url, "unix:", 5) == 0) {
        to->path = url + 5;
        return *to->path == '/' ? NULL : bad_url(p, url);
    }
    if (apr_uri_parse(p, url, &uri) != APR_SUCCESS || !uri.scheme
        || (strcmp(uri.scheme, "redis") != 0 && !is_tls(url)) || !uri.hostname
        || !*uri.hostname || uri.query || uri.fragment) {
        return bad_url(p, url);
    }
    if (uri.user || uri.password) {
        return "the log would show a user or a password in the URL; use "
               "user=name and password-file=path";
    }
    if (uri.path && strcmp(uri.path, "/") != 0) {
        size_t digits = strspn(uri.path + 1, "0123456789");

        if (digits < 1 || digits > 5 || uri.path[1 + digits]) {
            return bad_url(p, url);
        }
        to->database = uri.path + 1;
    }
    port = uri.port_str ? strtol(uri.port_str, NULL, 10) : 0;
    return uri.port_str && (port < 1 || port > 65535)
               ? bad_url(p, url)
               : look_up(p, uri.hostname, (int)port, to);
}

/* Check that the options fit together, and set defaults. */
static const char *finish(apr_pool_t *p, const char *url, const char *tls,
                          engine_address_t *to)
{
    const char *error = NULL;
    int n;

    if (to->login.user && !to->login.password) {
        return "user= needs password-file=";
    }
    if (to->sentinel_login.user && !to->sentinel_login.password) {
        return "sentinel-user= needs sentinel-password-file=";
    }
    if (to->sentinel_login.password && !to->sentinel) {
        return "sentinel-password-file= needs sentinel=";
    }
    if (to->sentinel && to->path) {
        return "sentinel= needs hosts, and unix: has none";
    }
    if (to->count > 1 && !to->sentinel) {
        return "several hosts are Sentinels and need sentinel=name; Redis "
               "Cluster is not supported: write one host";
    }
    for (n = 0; n < to->count; n++) {
        if (to->places[n].port == 0) {
            to->places[n].port = to->sentinel ? SENTINEL_PORT : DEFAULT_PORT;
        }
    }
    if (tls || is_tls(url)) {
        error = redis_tls_read(p, tls ? tls : url, tls ? tls + 4 : NULL,
                               &to->tls);
    }
    if (!error && !is_tls(url) && (tls || to->tls_name)) {
        error = "tls= and tls-name= need rediss://";
    }
    return error;
}

const char *redis_address_parse(apr_pool_t *p, const char *url,
                                char *const options[], int count,
                                const engine_address_t **address)
{
    engine_address_t *to = apr_pcalloc(p, sizeof(*to));
    const char *error = read_url(p, url, to);
    const char *tls = NULL;
    int n;

    to->shown = url;
    to->timeout_usec = DEFAULT_TIMEOUT_USEC;
    for (n = 0; n < count && !error; n++) {
        error = read_option(p, options[n], to, &tls);
        if (!strchr(options[n], '=') || to->sentinel == options[n] + 9) {
            to->shown = apr_pstrcat(p, to->shown, " ", options[n], NULL);
        }
    }
    *address = to;
    return error ? error : finish(p, url, tls, to);
}
