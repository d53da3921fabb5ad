/* spool_conf.c - the directives AdmissionSpool and AdmissionSpoolLimit. */
#include <httpd.h>
#include <apr_strings.h>
#include <http_config.h>

#include "module/conf.h"
#include "module/parse.h"
#include "module/location.h"

#define MIN_SPOOL ((apr_off_t)1024)
#define MAX_SPOOL ((apr_off_t)1 << 40)

/* Parse "request=1M" or "response=off". @return an error, or NULL. */
static const char *parse_spool(apr_pool_t *p, const char *option,
                               spool_conf_t *given)
{
    const char *value = strchr(option, '=');
    apr_off_t *size = strncasecmp(option, "request=", 8) == 0 ? &given->request
                      : strncasecmp(option, "response=", 9) == 0
                          ? &given->response
                          : NULL;

    if (size && *size != ADMISSION_UNSET) {
        return apr_psprintf(p, "AdmissionSpool: '%s' is given twice", option);
    }
    if (size) {
        *size = strcasecmp(value + 1, "off") == 0
                    ? 0
                    : admission_parse_size(value + 1, MIN_SPOOL, MAX_SPOOL);
    }
    return size && *size != ADMISSION_UNSET
               ? NULL
               : apr_psprintf(p,
                              "AdmissionSpool: '%s' is not request=size, "
                              "response=size, request=off or response=off with "
                              "a size from 1K to 1T, such as 16M",
                              option);
}

const char *spool_conf_set(cmd_parms *cmd, void *dir_conf, const char *first,
                           const char *second)
{
    admission_dir_conf_t *conf = dir_conf;
    spool_conf_t given = SPOOL_CONF_UNSET;
    const char *error = admission_location_mark(cmd, dir_conf);

    if (!error) {
        error = parse_spool(cmd->pool, first, &given);
    }
    if (!error && second) {
        error = parse_spool(cmd->pool, second, &given);
    }
    if (!error) {
        conf->spool = spool_conf_merge(conf->spool, given);
    }
    return error;
}

const char *spool_conf_set_limit(cmd_parms *cmd, void *dir_conf,
                                 const char *size, const char *directory)
{
    admission_server_conf_t *conf =
        ap_get_module_config(cmd->server->module_config, &admission_module);
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);
    apr_off_t limit = admission_parse_size(size, MIN_SPOOL, MAX_SPOOL);
    const char *path = directory;

    if (error) {
        return error;
    }
    if (limit < 0) {
        return apr_psprintf(
            cmd->pool,
            "AdmissionSpoolLimit: '%s' is not a size from 1K to "
            "1T, such as 512M or 1G",
            size);
    }
    if (directory) {
        path = ap_server_root_relative(cmd->pool, directory);
        if (!path || !ap_is_directory(cmd->temp_pool, path)) {
            return apr_psprintf(cmd->pool,
                                "AdmissionSpoolLimit: '%s' is not a directory",
                                directory);
        }
    }
    conf->spool.limit = limit;
    conf->spool.directory = path;
    return NULL;
}
