/* redis_address.c - where Redis is, as AdmissionEngine says it.
 * Called by mod_admission_redis.
 */
#include <stdlib.h>
#include <string.h>

#include <apr_file_io.h>
#include <apr_lib.h>
#include <apr_network_io.h>
#include <apr_strings.h>
#include <apr_uri.h>

#include "redis_address.h"

#define DEFAULT_PORT 6379
#define DEFAULT_TIMEOUT_USEC INT64_C(500000)
#define LONGEST_PASSWORD 512

static const char *bad_url(apr_pool_t *p, const char *url)
{
    return apr_psprintf(p,
                        "'%s' is not redis://host[:port][/database] nor "
                        "unix:/path/of/socket",
                        url);
}

/* One line, of a file that nobody else may read. */
static const char *read_password(apr_pool_t *p, const char *path,
                                 const char **password)
{
    char text[LONGEST_PASSWORD + 2];
    apr_size_t length = sizeof(text) - 1;
    apr_file_t *file;
    apr_finfo_t info;
    apr_status_t rv = apr_file_open(&file, path, APR_READ, 0, p);

    if (rv == APR_SUCCESS) {
        rv = apr_file_info_get(&info, APR_FINFO_PROT, file);
        if (rv == APR_SUCCESS && (info.protection & APR_WREAD)) {
            apr_file_close(file);
            return apr_psprintf(p,
                                "password-file=%s may be read by everybody; "
                                "it must be readable by its owner alone",
                                path);
        }
        rv = apr_file_read_full(file, text, length, &length);
        apr_file_close(file);
    }
    if (rv != APR_SUCCESS && rv != APR_EOF) {
        char why[120];

        return apr_psprintf(p, "password-file=%s cannot be read: %s", path,
                            apr_strerror(rv, why, sizeof(why)));
    }
    text[length] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    *password = apr_pstrdup(p, text);
    return *text && length <= LONGEST_PASSWORD
               ? NULL
               : apr_psprintf(p,
                              "password-file=%s has no password of 1 to %d "
                              "characters in its first line",
                              path, LONGEST_PASSWORD);
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

/* What others know, and why it is of no use here. NULL: nothing that is known. */
static const char *unsupported(apr_pool_t *p, const char *option)
{
    if (strncmp(option, "tls=", 4) == 0) {
        return apr_psprintf(p,
                            "'%s': TLS is not supported; a tunnel to the "
                            "engine on this host is",
                            option);
    }
    if (strncmp(option, "sentinel=", 9) == 0) {
        return apr_psprintf(p,
                            "'%s': Sentinel is not supported; the URL has to "
                            "lead to the master, as a name or a proxy that "
                            "follows it does",
                            option);
    }
    return NULL;
}

static const char *read_option(apr_pool_t *p, const char *option,
                               engine_address_t *to)
{
    const char *error = unsupported(p, option);

    if (error) {
        return error;
    }
    if (strncmp(option, "user=", 5) == 0 && option[5]) {
        to->user = option + 5;
        return NULL;
    }
    if (strncmp(option, "password-file=", 14) == 0 && option[14]) {
        return read_password(p, option + 14, &to->password);
    }
    if (strncmp(option, "timeout=", 8) == 0
        && read_timeout(option + 8, &to->timeout_usec)) {
        return NULL;
    }
    return apr_psprintf(p,
                        "'%s' is not user=name, password-file=path or "
                        "timeout=time with a time from 10ms to 5s",
                        option);
}

/* In the parent, so that the agent waits for no name server. */
static const char *look_up(apr_pool_t *p, const char *name,
                           engine_address_t *to)
{
    apr_sockaddr_t *found;
    char *number;

    if (apr_sockaddr_info_get(&found, name, APR_UNSPEC, (apr_port_t)to->port, 0,
                              p)
            != APR_SUCCESS
        || apr_sockaddr_ip_get(&number, found) != APR_SUCCESS) {
        return apr_psprintf(p, "the address of '%s' is not found", name);
    }
    to->host = number;
    return NULL;
}

static const char *read_url(apr_pool_t *p, const char *url,
                            engine_address_t *to)
{
    apr_uri_t uri;

    if (strncmp(url, "unix:", 5) == 0) {
        to->path = url + 5;
        to->shown = url;
        return *to->path == '/' ? NULL : bad_url(p, url);
    }
    if (strncmp(url, "rediss:", 7) == 0) {
        return apr_psprintf(p,
                            "'%s' asks for TLS, which is not supported; a "
                            "tunnel to the engine on this host is: stunnel and "
                            "redis://127.0.0.1:port, or unix:",
                            url);
    }
    if (apr_uri_parse(p, url, &uri) != APR_SUCCESS || !uri.scheme
        || strcmp(uri.scheme, "redis") != 0 || !uri.hostname || !*uri.hostname
        || uri.query || uri.fragment) {
        return bad_url(p, url);
    }
    if (uri.user || uri.password) {
        return "a URL with a user or a password would show them; user=name "
               "and password-file=path say them";
    }
    to->shown = url;
    to->port = uri.port_str ? uri.port : DEFAULT_PORT;
    if (uri.path && strcmp(uri.path, "/") != 0) {
        const char *c = uri.path + 1;

        while (apr_isdigit(*c)) {
            c++;
        }
        if (*c || c == uri.path + 1 || c - uri.path > 6) {
            return bad_url(p, url);
        }
        to->database = uri.path + 1;
    }
    return look_up(p, uri.hostname, to);
}

const char *redis_address_parse(apr_pool_t *p, const char *url,
                                char *const options[], int count,
                                const engine_address_t **address)
{
    engine_address_t *to = apr_pcalloc(p, sizeof(*to));
    const char *error = read_url(p, url, to);
    int n;

    if (!to->timeout_usec) {
        to->timeout_usec = DEFAULT_TIMEOUT_USEC;
    }
    for (n = 0; n < count && !error; n++) {
        error = read_option(p, options[n], to);
    }
    if (!error && to->user && !to->password) {
        error = "user= needs password-file=";
    }
    *address = to;
    return error;
}
