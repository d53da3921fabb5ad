/* directives.c - the table of directives, and the functions that read them.
 *
 * A directive is only recorded. Which zones result is decided in zones.c, after
 * the whole configuration has been read.
 */
#include <httpd.h>
#include <apr_lib.h>
#include <apr_strings.h>
#include <http_protocol.h>

#include "nested/nested_actions.h"
#include "conf.h"
#include "location.h"
#include "zones.h"

/* Set the section's limit. A second MaxConcurrent of it must be the same. */
static const char *set_max_concurrent(cmd_parms *cmd, void *dir_conf,
                                      const char *arg, const char *min,
                                      const char *max)
{
    const char *error = admission_location_mark(cmd, dir_conf);
    admission_limit_t max_concurrent;
    admission_section_t *section;

    if (!error) {
        error = strcasecmp(arg, "auto") == 0
                    ? auto_conf_parse(cmd->pool, min, max, &max_concurrent)
                    : admission_limit_parse(cmd->pool, arg, min,
                                            &max_concurrent);
    }
    if (error) {
        return error;
    }
    section = admission_zones_note_section(cmd, dir_conf);
    if (section->max_concurrent.number == ADMISSION_NO_NUMBER) {
        section->max_concurrent = max_concurrent;
        section->place = admission_zones_place(cmd);
    }
    if (!admission_limit_is_same(&section->max_concurrent, &max_concurrent)) {
        return apr_psprintf(cmd->pool,
                            "MaxConcurrent: '%s' differs from '%s' in %s; a "
                            "section has one limit",
                            admission_limit_name(cmd->pool, &max_concurrent),
                            admission_limit_name(cmd->pool,
                                                 &section->max_concurrent),
                            section->place);
    }
    return NULL;
}

static const char *set_queue(cmd_parms *cmd, void *dir_conf, const char *length,
                             const char *option, const char *another)
{
    admission_dir_conf_t *conf = dir_conf;
    admission_queue_t *queue = apr_palloc(cmd->pool, sizeof(*queue));
    const char *error = admission_location_mark(cmd, dir_conf), *wrong;

    if (error) {
        return error;
    }
    *queue = (admission_queue_t){
        .length = admission_parse_number(length, 0, ADMISSION_QUEUE_MAX),
        .timeout = ADMISSION_DEFAULT_QUEUE_TIMEOUT
    };
    if (queue->length < 0) {
        return apr_psprintf(cmd->pool,
                            "AdmissionQueue: '%s' is not a queue length from 0 "
                            "(no queue) to %d",
                            length, ADMISSION_QUEUE_MAX);
    }
    if (option && another
        && strncasecmp(option, another, strcspn(option, "=") + 1) == 0) {
        return apr_psprintf(cmd->pool,
                            "AdmissionQueue: unexpected argument '%s' after "
                            "'%s'; timeout= and target= are allowed once each",
                            another, option);
    }
    wrong = option && !admission_parse_queue_option(option, queue)     ? option
            : another && !admission_parse_queue_option(another, queue) ? another
                                                                       : NULL;
    if (wrong) {
        return apr_psprintf(cmd->pool,
                            "AdmissionQueue: '%s' is not timeout=time, "
                            "target=time or target=off with a time from 1ms to "
                            "24h in ms, s, min or h, such as timeout=30s; a "
                            "length of 0 means no queue",
                            wrong);
    }
    conf->queue = queue;
    return NULL;
}

static const char *set_handlers(cmd_parms *cmd, void *dir_conf, int argc,
                                char *const argv[])
{
    admission_dir_conf_t *conf = dir_conf;
    apr_array_header_t *handlers;
    const char *error = admission_location_mark(cmd, dir_conf);
    int i;

    if (error) {
        return error;
    }
    if (argc == 0) {
        return "AdmissionHandlers: needs 'dynamic', 'all' or handler names";
    }
    handlers = apr_array_make(cmd->pool, argc, sizeof(const char *));
    for (i = 0; i < argc; i++) {
        const char *star = strchr(argv[i], '*');

        if (*argv[i] == '\0' || (star && star[1])) {
            return apr_psprintf(cmd->pool,
                                "AdmissionHandlers: '%s' is not 'dynamic', "
                                "'all' or a handler name, which can end with "
                                "one '*'",
                                argv[i]);
        }
        APR_ARRAY_PUSH(handlers, const char *) = argv[i];
    }
    conf->handlers = handlers;
    return NULL;
}

static const char *set_zone(cmd_parms *cmd, void *dir_conf, const char *arg,
                            const char *option)
{
    const char *error = admission_location_mark(cmd, dir_conf);
    const char *c;

    if (error) {
        return error;
    }
    for (c = arg; *c && !apr_iscntrl(*c); c++) {
    }
    if (*arg == '\0' || *c || c - arg > ADMISSION_NAME_MAX) {
        return apr_psprintf(cmd->pool,
                            "AdmissionZone: '%s' is not a name of 1 to 255 "
                            "characters without control characters",
                            arg);
    }
    if (option && strcasecmp(option, "fleet") != 0) {
        return apr_psprintf(
            cmd->pool,
            "AdmissionZone: unexpected argument '%s' after the name; "
            "only 'fleet' is allowed",
            option);
    }
    if (option && !FLEET_IS_BUILT) {
        return "AdmissionZone: 'fleet': this build has no fleet";
    }
    admission_zones_note_section(cmd, dir_conf)->zone_name = arg;
    admission_zones_note_section(cmd, dir_conf)->is_shared = option != NULL;
    return NULL;
}

static const char *set_exempt(cmd_parms *cmd, void *dir_conf, const char *args)
{
    admission_dir_conf_t *conf = dir_conf;
    const char *error = admission_location_mark(cmd, dir_conf);

    conf->exempt_place = admission_zones_place(cmd);
    return error ? error : admission_parse_condition(cmd, args, &conf->exempt);
}

/* Parse the option retry-after=. @return whether it is valid. */
static bool parse_retry(const char *option, admission_dir_conf_t *conf)
{
    adm_usec_t time;

    if (strcasecmp(option, "retry-after=auto") == 0) {
        conf->retry = ADMISSION_RETRY_AUTO;
        return true;
    }
    if (strcasecmp(option, "retry-after=off") == 0) {
        conf->retry = ADMISSION_RETRY_OFF;
        return true;
    }
    if (strncasecmp(option, "retry-after=", 12) != 0
        || !admission_parse_time(option + 12, ADM_USEC_PER_SEC, &time)) {
        return false;
    }
    conf->retry = (int)(time / ADM_USEC_PER_SEC);
    return true;
}

static const char *set_reject(cmd_parms *cmd, void *dir_conf,
                              const char *status, const char *option)
{
    admission_dir_conf_t *conf = dir_conf;
    const char *error = admission_location_mark(cmd, dir_conf);
    int number = admission_parse_number(status, 400, 599);

    if (error) {
        return error;
    }
    if (number == HTTP_UNAUTHORIZED
        || number == HTTP_PROXY_AUTHENTICATION_REQUIRED) {
        return apr_psprintf(
            cmd->pool,
            "AdmissionReject: '%s' needs a header that asks the "
            "client to log in, which a rejection lacks; use "
            "another error status from 400 to 599, such as "
            "503 or 429",
            status);
    }
    /* httpd sends a status that it does not support as 500. */
    if (number < 0
        || (number != HTTP_INTERNAL_SERVER_ERROR
            && ap_index_of_response(number)
                   == ap_index_of_response(HTTP_INTERNAL_SERVER_ERROR))) {
        return apr_psprintf(cmd->pool,
                            "AdmissionReject: '%s' is not an error status that "
                            "httpd supports, from 400 to 599, such as 503 or "
                            "429",
                            status);
    }
    conf->reject_status = number;
    if (option && !parse_retry(option, conf)) {
        return apr_psprintf(cmd->pool,
                            "AdmissionReject: '%s' is not retry-after=auto, "
                            "retry-after=off or retry-after=time with a time "
                            "from 1s to 24h in s, min or h",
                            option);
    }
    return NULL;
}

/* Instead of httpd's own type of directive, whose error message lacks the
 * value. */
static const char *parse_flag(cmd_parms *cmd, const char *arg, int *flag)
{
    if (strcasecmp(arg, "on") != 0 && strcasecmp(arg, "off") != 0) {
        return apr_psprintf(cmd->pool, "%s: '%s' is not On or Off",
                            cmd->cmd->name, arg);
    }
    *flag = strcasecmp(arg, "on") == 0;
    return NULL;
}

static const char *set_dry_run(cmd_parms *cmd, void *dir_conf, const char *arg)
{
    admission_dir_conf_t *conf = dir_conf;
    const char *error = admission_location_mark(cmd, dir_conf);

    return error ? error : parse_flag(cmd, arg, &conf->dry_run);
}

static const char *set_reserve(cmd_parms *cmd, void *dir_conf, const char *arg)
{
    admission_server_conf_t *conf =
        ap_get_module_config(cmd->server->module_config, &admission_module);
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);
    apr_size_t length = strlen(arg);
    bool is_percent = length && arg[length - 1] == '%';
    int number = admission_parse_number(
        is_percent ? apr_pstrmemdup(cmd->pool, arg, length - 1) : arg, 0,
        is_percent ? 99 : ADMISSION_LIMIT_MAX);

    if (error) {
        return error;
    }
    if (number < 0) {
        return apr_psprintf(cmd->pool,
                            "AdmissionReserve: '%s' is not a number of workers "
                            "from 0 to %d or a percentage from 0%% to 99%%",
                            arg, ADMISSION_LIMIT_MAX);
    }
    conf->reserve = number;
    conf->reserve_place = admission_zones_place(cmd);
    conf->reserve_is_percent = is_percent;
    return NULL;
}

static const char *set_parking(cmd_parms *cmd, void *dir_conf, const char *arg)
{
    admission_server_conf_t *conf =
        ap_get_module_config(cmd->server->module_config, &admission_module);
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);

    return error ? error : parse_flag(cmd, arg, &conf->parking);
}

/* httpd passes a directive only to modules that declare it. As a side effect,
 * mod_info lists this one for this module as well. */
#define ACTION_OF_MOD_ACTIONS "Action"
#define ZONE_CONTEXT (RSRC_CONF | ACCESS_CONF)

const command_rec admission_directives[] = {
    AP_INIT_TAKE123("MaxConcurrent", set_max_concurrent, NULL, ZONE_CONTEXT,
                    "maximum number of concurrent requests, 'auto' with "
                    "minimum and maximum, or 'off'"),
    AP_INIT_TAKE123("AdmissionQueue", set_queue, NULL, ZONE_CONTEXT,
                    "maximum number of waiting requests, timeout=time and "
                    "target=time|off"),
    AP_INIT_TAKE_ARGV("AdmissionHandlers", set_handlers, NULL, ZONE_CONTEXT,
                      "requests that count: 'dynamic', 'all' or handler names"),
    AP_INIT_TAKE12("AdmissionZone", set_zone, NULL, ZONE_CONTEXT,
                   "name of the zone; sections with the same name share one "
                   "limit, with 'fleet' across servers"),
    AP_INIT_RAW_ARGS(
        "AdmissionExempt", set_exempt, NULL, ZONE_CONTEXT,
        "expression: requests for which it is true are not limited"),
    FAIR_DIRECTIVES,
    AP_INIT_TAKE12(
        "AdmissionReject", set_reject, NULL, ZONE_CONTEXT,
        "status of rejected requests, and retry-after=auto|off|time"),
    AP_INIT_TAKE1("AdmissionDryRun", set_dry_run, NULL, ZONE_CONTEXT,
                  "On or Off; On: decide and count, but enforce nothing"),
    SPOOL_DIRECTIVES,
    AP_INIT_TAKE1("AdmissionReserve", set_reserve, NULL, RSRC_CONF,
                  "workers kept free of limited requests, a number or "
                  "percentage"),
    RECYCLE_DIRECTIVES,
    AP_INIT_TAKE1(
        "AdmissionParking", set_parking, NULL, RSRC_CONF,
        "On or Off; On: wait without a worker if the MPM supports it"),
    AUTO_DIRECTIVES,
    FLEET_DIRECTIVES,
    /* A directive of mod_actions, which reads it as well. */
    AP_INIT_TAKE23(ACTION_OF_MOD_ACTIONS, admission_actions_note, NULL,
                   OR_FILEINFO,
                   "a media type followed by a script name (directive of "
                   "mod_actions, which this module reads, too)"),
    { .name = NULL }
};
