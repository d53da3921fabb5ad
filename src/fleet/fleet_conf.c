/* fleet_conf.c - AdmissionEngine and AdmissionFleet: limits across servers. */
#include <httpd.h>
#include <ap_provider.h>
#include <apr_strings.h>
#include <http_config.h>

#include "fleet_conf.h"
#include "module/conf.h"
#include "module/parse.h"

#define LEASE_LEAST (3 * ADM_USEC_PER_SEC)
#define LEASE_DEFAULT (30 * ADM_USEC_PER_SEC)
#define HOLD_LEAST ADM_USEC_PER_SEC

static const char *const fallbacks[] = { [ADM_FALLBACK_KEEP] = "keep",
                                         [ADM_FALLBACK_REJECT] = "reject",
                                         [ADM_FALLBACK_OPEN] = "open" };

static fleet_conf_t *conf_of(server_rec *s)
{
    admission_server_conf_t *conf = ap_get_module_config(s->module_config,
                                                         &admission_module);

    return &conf->fleet;
}

/* The scheme of the URL names the provider. */
static const engine_provider_t *find_provider(apr_pool_t *p, const char *url)
{
    const char *colon = strchr(url, ':');

    return colon ? ap_lookup_provider(ENGINE_PROVIDER_GROUP,
                                      apr_pstrmemdup(p, url,
                                                     (apr_size_t)(colon - url)),
                                      ENGINE_PROVIDER_VERSION)
                 : NULL;
}

/* @return whether the log would show a secret in the argument, as errors quote it: a
 * password option, or a user in a URL or host. */
static bool shows_secret(const char *word)
{
    bool is_place = strstr(word, "://") || !strchr(word, '=');

    return ap_strcasestr(word, "password=")
           || (is_place && strncmp(word, "unix:", 5) != 0 && strchr(word, '@'));
}

const char *fleet_conf_set_engine(cmd_parms *cmd, void *dir_conf, int argc,
                                  char *const argv[])
{
    fleet_conf_t *conf = conf_of(cmd->server);
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);
    int n;

    if (error) {
        return error;
    }
    if (argc == 0) {
        return "AdmissionEngine: must be followed by a URL, such as "
               "redis://127.0.0.1/";
    }
    for (n = 0; n < argc; n++) {
        if (shows_secret(argv[n])) {
            return "AdmissionEngine: the log would show a user or a password in "
                   "a URL, a host or an option; use user=name and "
                   "password-file=path";
        }
    }
    conf->engine = find_provider(cmd->pool, argv[0]);
    if (!conf->engine) {
        return apr_psprintf(cmd->pool,
                            "AdmissionEngine: '%s' is not redis://host[:port]"
                            "[/database], rediss:// or unix:/path, or the "
                            "module mod_admission_redis, which provides these, "
                            "is not loaded",
                            argv[0]);
    }
    error = conf->engine->parse(cmd->pool, argv[0], argv + 1, argc - 1,
                                &conf->engine_address);
    return error ? apr_psprintf(cmd->pool, "AdmissionEngine: %s", error) : NULL;
}

static bool parse_fallback(const char *word, adm_fallback_t *fallback)
{
    int n;

    for (n = ADM_FALLBACK_KEEP; n <= ADM_FALLBACK_OPEN; n++) {
        if (strcasecmp(word, fallbacks[n]) == 0) {
            *fallback = (adm_fallback_t)n;
            return true;
        }
    }
    return false;
}

static bool parse_term(const char *option, fleet_conf_t *conf)
{
    if (strncasecmp(option, "lease=", 6) == 0) {
        return admission_parse_time(option + 6, LEASE_LEAST, &conf->lease);
    }
    if (strcasecmp(option, "hold=auto") == 0) {
        conf->hold = 0;
        return true;
    }
    if (strncasecmp(option, "hold=", 5) == 0) {
        return admission_parse_time(option + 5, HOLD_LEAST, &conf->hold);
    }
    return strncasecmp(option, "fallback=", 9) == 0
           && parse_fallback(option + 9, &conf->fallback);
}

const char *fleet_conf_set_terms(cmd_parms *cmd, void *dir_conf, int argc,
                                 char *const argv[])
{
    fleet_conf_t *conf = conf_of(cmd->server);
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);
    int n;

    if (!error && argc == 0) {
        error = "AdmissionFleet: must be followed by lease=time, hold=time, "
                "hold=auto or fallback=keep|reject|open";
    }
    for (n = 0; n < argc && !error; n++) {
        if (!parse_term(argv[n], conf)) {
            error = apr_psprintf(
                cmd->pool,
                "AdmissionFleet: '%s' is not lease=time with a time from 3s to "
                "24h, hold=time with a time from 1s to 24h, hold=auto, "
                "fallback=keep, fallback=reject or fallback=open",
                argv[n]);
        }
    }
    return error;
}

fleet_conf_t admission_fleet(server_rec *s)
{
    fleet_conf_t conf = *conf_of(s);

    conf.lease = conf.lease ? conf.lease : LEASE_DEFAULT;
    if (conf.fallback == ADM_FALLBACK_NONE) {
        conf.fallback = ADM_FALLBACK_KEEP;
    }
    return conf;
}
