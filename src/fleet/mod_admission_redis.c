/* mod_admission_redis.c - Redis or Valkey as an engine: registers the provider.
 * A module of its own, so that mod_admission does not depend on hiredis.
 */
#include <httpd.h>
#include <ap_provider.h>
#include <http_config.h>

#include "redis_link.h"
#include "redis_login.h"

/* Erase the passwords in children, which run other modules' code, such as mod_php.
 * The agent, which needs the passwords, does not run this hook. */
static void erase_passwords(apr_pool_t *pchild, server_rec *s)
{
    redis_login_erase();
}

static void register_hooks(apr_pool_t *p)
{
    static const char *const schemes[] = { "redis", "rediss", "unix" };
    unsigned n;

    ap_hook_child_init(erase_passwords, NULL, NULL, APR_HOOK_REALLY_FIRST);
    for (n = 0; n < sizeof(schemes) / sizeof(*schemes); n++) {
        ap_register_provider(p, ENGINE_PROVIDER_GROUP, schemes[n],
                             ENGINE_PROVIDER_VERSION, &redis_link_provider);
    }
}

extern module AP_MODULE_DECLARE_DATA admission_redis_module;

AP_DECLARE_MODULE(admission_redis) = {
    STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL, register_hooks
};
