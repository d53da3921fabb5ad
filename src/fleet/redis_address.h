/* redis_address.h - the arguments of AdmissionEngine for Redis.
 * Parsed for mod_admission_redis, read by the files that connect.
 */
#ifndef REDIS_ADDRESS_H
#define REDIS_ADDRESS_H

#include "engine.h"
#include "redis_login.h"
#include "redis_tls.h"
#include "redis_words.h"

/** Maximum number of hosts. */
#define REDIS_ADDRESS_PLACES 16

struct engine_address_t {
    const char *shown;                          /* for the log */
    redis_place_t places[REDIS_ADDRESS_PLACES]; /* the Redis, or Sentinels */
    int count;
    const char *sentinel; /* the master's name; NULL: without Sentinels */
    const char *path;     /* UNIX socket instead of places; or NULL */
    const char *database; /* digits; NULL: the default */
    redis_login_t login;  /* for Redis */
    redis_login_t sentinel_login;
    const redis_tls_t *tls; /* NULL: no TLS */
    const char *tls_name;   /* in every certificate; NULL: the host's name */
    bool has_any_name;      /* tls-name=off: names are not checked */
    int64_t timeout_usec;   /* of connecting, and of a reply */
};

/** parse() of engine_provider_t. */
const char *redis_address_parse(apr_pool_t *p, const char *url,
                                char *const options[], int count,
                                const engine_address_t **address);

#endif
