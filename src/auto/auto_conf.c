/* auto_conf.c - MaxConcurrent auto, and the directive AdmissionStateFile. */
#include <httpd.h>
#include <apr_strings.h>
#include <http_config.h>

#include "module/conf.h"
#include "module/parse.h"

static const char *parse_bound(apr_pool_t *p, const char *name, const char *arg,
                               int *number)
{
    *number = admission_parse_number(arg, 1, ADMISSION_LIMIT_MAX);
    return *number < 0
               ? apr_psprintf(p,
                              "MaxConcurrent: '%s' is not a %s for auto, a "
                              "number from 1 to %d",
                              arg, name, ADMISSION_LIMIT_MAX)
               : NULL;
}

const char *auto_conf_parse(apr_pool_t *p, const char *min, const char *max,
                            admission_limit_t *limit)
{
    const char *error = NULL;

    *limit = (admission_limit_t){ .is_auto = true, .min = 1 };
    if (min) {
        error = parse_bound(p, "minimum", min, &limit->min);
    }
    if (!error && max) {
        error = parse_bound(p, "maximum", max, &limit->number);
    }
    if (!error && max && limit->min > limit->number) {
        error = apr_psprintf(p,
                             "MaxConcurrent: the minimum '%s' is above the "
                             "maximum '%s'; allowed is auto [min [max]] with "
                             "numbers from 1 to %d",
                             min, max, ADMISSION_LIMIT_MAX);
    }
    return error;
}

const char *auto_conf_set_state_file(cmd_parms *cmd, void *dir_conf,
                                     const char *arg)
{
    admission_server_conf_t *conf =
        ap_get_module_config(cmd->server->module_config, &admission_module);
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);

    if (error) {
        return error;
    }
    conf->tune.state_file = strcasecmp(arg, "off") == 0
                                ? ""
                                : ap_server_root_relative(cmd->pool, arg);
    return *arg && conf->tune.state_file
               ? NULL
               : apr_psprintf(cmd->pool,
                              "AdmissionStateFile: '%s' is not a file path or "
                              "'off'",
                              arg);
}
