/* redis_address.h - where Redis is, as AdmissionEngine says it.
 * Called by mod_admission_redis and all that connects.
 */
#ifndef REDIS_ADDRESS_H
#define REDIS_ADDRESS_H

#include "engine.h"
#include "redis_login.h"
#include "redis_place.h"
#include "redis_tls.h"

/** Hosts that AdmissionEngine may name. */
#define REDIS_ADDRESS_PLACES 16

struct engine_address_t {
    const char *shown;                          /* without any secret */
    redis_place_t places[REDIS_ADDRESS_PLACES]; /* several: of Sentinels */
    int count;
    const char
        *sentinel;    /* what Sentinels call the master; NULL: none is asked */
    const char *path; /* instead of places; NULL: none */
    const char *database; /* NULL: the first */
    redis_login_t login;  /* of Redis */
    redis_login_t sentinel_login;
    const redis_tls_t *tls; /* NULL: none */
    const char *tls_name;   /* of all certificates; NULL: each of its host's */
    bool has_any_name;      /* or of any */
    int64_t timeout_usec;
};

/** As engine_provider_t has it. */
const char *redis_address_parse(apr_pool_t *p, const char *url,
                                char *const options[], int count,
                                const engine_address_t **address);

/** @return what the certificate of @a place has to be of; NULL: of anything. */
const char *redis_address_name(const engine_address_t *address,
                               const redis_place_t *place);

#endif
