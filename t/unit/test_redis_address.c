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

static void assert_refused(const char *value, const char *why)
{
    const engine_address_t *address;
    const char *error = parse(value, &address);

    ck_assert_msg(error && strstr(error, why), "%s: %s", value, error ? error : "accepted");
}

/* Each is wrong in one point. */
TEST(other_urls_are_refused)
{
    char urls[] = "127.0.0.1 //127.0.0.1/ redis redis: redis:127.0.0.1 redis:// redis:/// "
                  "redis://:6379 redis://127.0.0.1:0 redis://127.0.0.1:65536 "
                  "redis://127.0.0.1:port redis://[::1 Redis://127.0.0.1 redi://127.0.0.1 "
                  "redissss://127.0.0.1 http://127.0.0.1 redis://127.0.0.1?a=b "
                  "redis://127.0.0.1/? redis://127.0.0.1#a redis://127.0.0.1/# "
                  "redis://127.0.0.1/1x redis://127.0.0.1/-1 redis://127.0.0.1// "
                  "redis://127.0.0.1/123456 unix: unix:socket ";
    const char *url;

    assert_refused("", "is not redis://host");
    for (url = strtok(urls, " "); url; url = strtok(NULL, " ")) {
        assert_refused(url, "is not redis://host");
    }
}

static const char *const bad_timeouts[] = { "9ms", "5001ms", "6s",   "0s", "-1s",
                                            "s",   "500",    "1sec", "" };

TESTS(other_timeouts_are_refused, 0, COUNT(bad_timeouts))
{
    assert_refused(apr_pstrcat(pool, "unix:/socket timeout=", bad_timeouts[_i], NULL),
                   "from 10ms to 5s");
}

static const struct {
    const char *value;
    const char *host; /* NULL: the socket */
    int port;
    const char *database;
    int64_t timeout_usec; /* 0: the default */
} good[] = {
    { "redis://127.0.0.1", "127.0.0.1", 6379, NULL, 0 },
    { "redis://127.0.0.1/", "127.0.0.1", 6379, NULL, 0 },
    { "redis://127.0.0.1:1/", "127.0.0.1", 1, NULL, 0 },
    { "redis://127.0.0.1:65535", "127.0.0.1", 65535, NULL, 0 },
    { "redis://127.0.0.1/0", "127.0.0.1", 6379, "0", 0 },
    { "redis://[::1]:7/12345", "::1", 7, "12345", 0 },
    { "redis://127.0.0.1 sentinel=m", "127.0.0.1", 26379, NULL, 0 },
    { "redis://127.0.0.1:7 sentinel=m", "127.0.0.1", 7, NULL, 0 },
    { "unix:/socket", NULL, 0, NULL, 0 },
    { "unix:/socket timeout=10ms", NULL, 0, NULL, 10000 },
    { "unix:/socket timeout=5000ms", NULL, 0, NULL, 5000000 },
    { "unix:/socket timeout=1s", NULL, 0, NULL, 1000000 },
    { "unix:/socket timeout=5s", NULL, 0, NULL, 5000000 },
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
    if (good[_i].timeout_usec) {
        ck_assert_int_eq(address->timeout_usec, good[_i].timeout_usec);
    }
}
