/* mod_admission_redis.c - Redis or Valkey as an engine: registers the provider.
 * A module of its own, so that mod_admission does not depend on hiredis.
 */
#include <httpd.h>
#include <ap_provider.h>
#include <http_config.h>

#include "redis_address.h"
#include "redis_link.h"

static const char *shown(const engine_address_t *address)
{
    return address->shown;
}

static const engine_provider_t provider = {
    .parse = redis_address_parse,
    .shown = shown,
    .open = redis_link_open,
    .prepare_poll = redis_link_prepare_poll,
    .work = redis_link_work,
    .sync = redis_link_sync,
    .close = redis_link_close
};

/* Erase the passwords in children, which run other modules' code, such as mod_php.
 * The agent, which needs the passwords, does not run this hook. */
static void erase_passwords(apr_pool_t *pchild, server_rec *s)
{
    redis_login_erase();
}

static void register_hooks(apr_pool_t *p)
{
    ap_hook_child_init(erase_passwords, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_register_provider(p, ENGINE_PROVIDER_GROUP, "redis",
                         ENGINE_PROVIDER_VERSION, &provider);
    ap_register_provider(p, ENGINE_PROVIDER_GROUP, "rediss",
                         ENGINE_PROVIDER_VERSION, &provider);
    ap_register_provider(p, ENGINE_PROVIDER_GROUP, "unix",
                         ENGINE_PROVIDER_VERSION, &provider);
}

extern module AP_MODULE_DECLARE_DATA admission_redis_module;

AP_DECLARE_MODULE(admission_redis) = {
    STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL, register_hooks
};
