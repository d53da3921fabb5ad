/* test_redis_address.c - which values of AdmissionEngine are accepted. */
#include <string.h>

#include <apr_strings.h>

#include "fleet/redis_address.h"
#include "test_support.h"

/* For paths of options. Of httpd, which is not linked here. */
char *ap_server_root_relative(apr_pool_t *p, const char *path);

char *ap_server_root_relative(apr_pool_t *p, const char *path)
{
    return apr_pstrcat(p, "/etc/httpd/", path, NULL);
}

/* "URL", "URL option" */
static const char *parse(const char *value, const engine_address_t **address)
{
    char *url = apr_pstrdup(pool, value), *option = strchr(url, ' ');

    if (option) {
        *option++ = '\0';
    }
    return redis_address_parse(pool, url, &option, option ? 1 : 0, address);
}

/* Each is wrong in one point. */
static const char *const bad_urls[] = {
    "",
    "127.0.0.1",
    "//127.0.0.1/",
    "redis",
    "redis:",
    "redis:127.0.0.1",
    "redis://",
    "redis:///",
    "redis://:6379",
    "redis://127.0.0.1:0",
    "redis://127.0.0.1:65536",
    "redis://127.0.0.1:port",
    "redis://[::1",
    "Redis://127.0.0.1",
    "redi://127.0.0.1",
    "redissss://127.0.0.1",
    "http://127.0.0.1",
    "redis://127.0.0.1?a=b",
    "redis://127.0.0.1/?",
    "redis://127.0.0.1#a",
    "redis://127.0.0.1/#",
    "redis://127.0.0.1/1x",
    "redis://127.0.0.1/-1",
    "redis://127.0.0.1//",
    "redis://127.0.0.1/123456",
    "unix:",
    "unix:socket",
};

TESTS(other_urls_are_refused, 0, COUNT(bad_urls))
{
    const engine_address_t *address;
    const char *error = parse(bad_urls[_i], &address);

    ck_assert_msg(error && strstr(error, "is not redis://host"), "%s: %s", bad_urls[_i],
                  error ? error : "accepted");
}

static const struct {
    const char *value;
    const char *host; /* NULL: the socket */
    int port;
    const char *database;
} good[] = {
    { "redis://127.0.0.1", "127.0.0.1", 6379, NULL },
    { "redis://127.0.0.1/", "127.0.0.1", 6379, NULL },
    { "redis://127.0.0.1:1/", "127.0.0.1", 1, NULL },
    { "redis://127.0.0.1:65535", "127.0.0.1", 65535, NULL },
    { "redis://127.0.0.1/0", "127.0.0.1", 6379, "0" },
    { "redis://[::1]:7/12345", "::1", 7, "12345" },
    { "redis://127.0.0.1 sentinel=m", "127.0.0.1", 26379, NULL },
    { "redis://127.0.0.1:7 sentinel=m", "127.0.0.1", 7, NULL },
    { "unix:/socket", NULL, 0, NULL },
};

TESTS(a_url_names_the_engine, 0, COUNT(good))
{
    const engine_address_t *address;
    const char *error = parse(good[_i].value, &address);

    ck_assert_msg(!error, "%s: %s", good[_i].value, error);
    if (good[_i].host) {
        ck_assert_int_eq(address->count, 1);
        ck_assert_str_eq(address->places[0].host, good[_i].host);
        ck_assert_int_eq(address->places[0].port, good[_i].port);
        ck_assert_ptr_null(address->path);
    }
    else {
        ck_assert_int_eq(address->count, 0);
        ck_assert_str_eq(address->path, "/socket");
    }
    ck_assert_pstr_eq(address->database, good[_i].database);
}

static const struct {
    const char *option;
    int64_t timeout_usec; /* 0: refused */
} timeouts[] = {
    { "timeout=9ms", 0 },    { "timeout=10ms", 10000 }, { "timeout=5000ms", 5000000 },
    { "timeout=5001ms", 0 }, { "timeout=1s", 1000000 }, { "timeout=5s", 5000000 },
    { "timeout=6s", 0 },     { "timeout=0s", 0 },       { "timeout=-1s", 0 },
    { "timeout=s", 0 },      { "timeout=500", 0 },      { "timeout=1sec", 0 },
    { "timeout=", 0 },
};

TESTS(a_timeout_has_bounds, 0, COUNT(timeouts))
{
    const engine_address_t *address;
    const char *value = apr_pstrcat(pool, "unix:/socket ", timeouts[_i].option, NULL);
    const char *error = parse(value, &address);

    if (timeouts[_i].timeout_usec) {
        ck_assert_msg(!error, "%s: %s", timeouts[_i].option, error);
        ck_assert_int_eq(address->timeout_usec, timeouts[_i].timeout_usec);
    }
    else {
        ck_assert_msg(error && strstr(error, "from 10ms to 5s"), "%s: %s", timeouts[_i].option,
                      error ? error : "accepted");
    }
}
