/* recycle_conf.c - the directive AdmissionRecycle. */
#include <httpd.h>
#include <apr_strings.h>
#include <http_config.h>

#include "module/conf.h"
#include "module/parse.h"
#include "recycle_turns.h"

#define MAX_CONNECTIONS 1000000000

const char *recycle_set(cmd_parms *cmd, void *dir_conf, const char *range,
                        const char *option)
{
    admission_server_conf_t *server_conf =
        ap_get_module_config(cmd->server->module_config, &admission_module);
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);
    bool is_off = strcasecmp(range, "off") == 0;
    recycle_conf_t conf = { .together = 0 };

    if (error) {
        return error;
    }
    if (!is_off
        && !admission_parse_range(cmd->pool, range, MAX_CONNECTIONS, &conf.min,
                                  &conf.max)) {
        return apr_psprintf(cmd->pool,
                            "AdmissionRecycle: '%s' is not a number of "
                            "connections from 1 to %d, a range of such numbers "
                            "(min-max) or 'off'",
                            range, MAX_CONNECTIONS);
    }
    if (is_off && option) {
        return apr_psprintf(
            cmd->pool, "AdmissionRecycle: unexpected argument '%s' after 'off'",
            option);
    }
    if (option) {
        conf.together = strncasecmp(option, "together=", 9) == 0
                            ? admission_parse_number(option + 9, 1,
                                                     RECYCLE_TURNS_MAX)
                            : ADMISSION_UNSET;
        if (conf.together == ADMISSION_UNSET) {
            return apr_psprintf(cmd->pool,
                                "AdmissionRecycle: '%s' is not together=number "
                                "with a number from 1 to %d",
                                option, RECYCLE_TURNS_MAX);
        }
    }
    server_conf->recycle = conf;
    return NULL;
}
