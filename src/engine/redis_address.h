/* redis_address.h - where Redis is, as AdmissionEngine says it.
 * Called by mod_admission_redis and redis_link.
 */
#ifndef REDIS_ADDRESS_H
#define REDIS_ADDRESS_H

#include "engine.h"

struct engine_address_t {
    const char *shown; /* without any secret */
    const char *host;  /* an address in numbers; NULL: a path */
    int port;
    const char *path;
    const char *database; /* NULL: the first */
    const char *user;     /* NULL: none */
    const char *password; /* NULL: none */
    int64_t timeout_usec;
};

/** As engine_provider_t has it. */
const char *redis_address_parse(apr_pool_t *p, const char *url,
                                char *const options[], int count,
                                const engine_address_t **address);

#endif
