/* backend.c - which backend mod_proxy sends a request to. */
#include <httpd.h>

#include "backend.h"

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
