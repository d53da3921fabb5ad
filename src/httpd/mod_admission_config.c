/* mod_admission_config.c - directives, defaults, merging.
 *
 * A directive only notes what it says; which zones that makes is settled in
 * mod_admission_zones.c when everything has been read.
 */
#include <httpd.h>
#include <apr_lib.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_protocol.h>

#include "mod_admission_private.h"

APLOG_USE_MODULE(admission);

#define UNSET (-1)
#define MAX_LIMIT 65535
#define MAX_QUEUE 65535
#define MAX_RECYCLE 1000000000
#define MAX_TIME apr_time_from_sec(86400)

#define DEFAULT_QUEUE_LENGTH 100
#define DEFAULT_QUEUE_TIMEOUT apr_time_from_sec(30)
#define DEFAULT_REJECT_STATUS HTTP_SERVICE_UNAVAILABLE
#define DEFAULT_RESERVE_PERCENT 25

/* ---- create and merge ---------------------------------------------------------- */

void *admission_create_dir_conf(apr_pool_t *p, char *path)
{
    admission_dir_conf_t *conf = apr_palloc(p, sizeof(*conf));

    (void)path;
    *conf = (admission_dir_conf_t){ .queue_length = UNSET,
                                    .queue_timeout = UNSET,
                                    .reject_status = UNSET,
                                    .retry = ADMISSION_RETRY_UNSET,
                                    .dry_run = UNSET };
    return conf;
}

#define PICK(field, unset) \
    conf->field = add->field != (unset) ? add->field : base->field

void *admission_merge_dir_conf(apr_pool_t *p, void *base_conf, void *add_conf)
{
    const admission_dir_conf_t *base = base_conf, *add = add_conf;
    admission_dir_conf_t *conf = apr_palloc(p, sizeof(*conf));

    PICK(limit, NULL);
    PICK(queue_length, UNSET);
    PICK(queue_timeout, UNSET);
    PICK(handlers, NULL);
    PICK(exempt, NULL);
    PICK(reject_status, UNSET);
    conf->retry_seconds = add->retry != ADMISSION_RETRY_UNSET
                              ? add->retry_seconds
                              : base->retry_seconds;
    PICK(retry, ADMISSION_RETRY_UNSET);
    PICK(dry_run, UNSET);
    return conf;
}

void *admission_create_server_conf(apr_pool_t *p, server_rec *s)
{
    admission_server_conf_t *conf = apr_pcalloc(p, sizeof(*conf));

    (void)s;
    conf->reserve = UNSET;
    conf->parking = UNSET;
    conf->recycle_together = UNSET;
    return conf;
}

/* ---- what the configuration says, defaults applied ---------------------------------- */

admission_zone_t *admission_zone_of(const admission_dir_conf_t *conf)
{
    return conf->limit ? conf->limit->zone : NULL;
}

/* Where the request's sections say nothing, what others of its zone say. */
int admission_queue_length(const admission_dir_conf_t *conf)
{
    const admission_zone_t *zone = admission_zone_of(conf);

    return conf->queue_length != UNSET ? conf->queue_length
           : zone                      ? zone->queue_length
                                       : DEFAULT_QUEUE_LENGTH;
}

apr_interval_time_t admission_queue_timeout(const admission_dir_conf_t *conf)
{
    const admission_zone_t *zone = admission_zone_of(conf);

    return conf->queue_timeout != UNSET ? conf->queue_timeout
           : zone                       ? zone->queue_timeout
                                        : DEFAULT_QUEUE_TIMEOUT;
}

int admission_reject_status(const admission_dir_conf_t *conf)
{
    return conf->reject_status != UNSET ? conf->reject_status
                                        : DEFAULT_REJECT_STATUS;
}

int admission_is_dry_run(const admission_dir_conf_t *conf)
{
    return conf->dry_run == 1;
}

int admission_reserved_workers(server_rec *s, int workers)
{
    const admission_server_conf_t *conf =
        ap_get_module_config(s->module_config, &admission_module);

    if (conf->reserve == UNSET) {
        return workers * DEFAULT_RESERVE_PERCENT / 100;
    }
    if (conf->reserve_is_percent) {
        return workers * conf->reserve / 100;
    }
    return conf->reserve < workers ? conf->reserve : workers;
}

int admission_parking_is_on(server_rec *s)
{
    const admission_server_conf_t *conf =
        ap_get_module_config(s->module_config, &admission_module);

    return conf->parking != 0;
}

double admission_number_of(const char *name, double otherwise)
{
    const ap_directive_t *directive;

    /* At the top of the files; the last one counts. */
    for (directive = ap_conftree; directive; directive = directive->next) {
        if (strcasecmp(directive->directive, name) == 0) {
            otherwise = strtod(directive->args, NULL);
        }
    }
    return otherwise;
}

/* ---- which handlers count ------------------------------------------------------------- */

/* type/subtype, and not one that a module has taken for a handler that runs
 * programs. */
int admission_is_media_type(const char *name)
{
    const char *slash = ap_scan_http_token(name);
    const char *subtype = *slash == '/' ? slash + 1 : slash;
    const char *end = ap_scan_http_token(subtype);

    return slash > name && subtype > slash && end > subtype && *end == '\0'
           && strncasecmp(name, "application/x-httpd-", 20) != 0
           && strcasecmp(name, "text/x-server-parsed-html") != 0;
}

/* A file without a handler is served by its type, which httpd then takes for
 * the handler's name. So AddType and ForceType can name any handler, and only a
 * media type is that of a file. */
static int is_file_of_its_type(const request_rec *r)
{
    apr_size_t length = strlen(r->handler);

    return r->content_type && strncmp(r->content_type, r->handler, length) == 0
           && (r->content_type[length] == '\0' || r->content_type[length] == ';'
               || r->content_type[length] == ' ')
           && admission_is_media_type(r->handler);
}

/* What httpd serves cheaply itself, and what an administrator needs when
 * everything else is full. */
static int is_cheap(const request_rec *r)
{
    static const char *const handlers[] = {
        AP_DEFAULT_HANDLER_NAME, "default-handler",
        DIR_MAGIC_TYPE,          "send-as-is",
        "httpd/send-as-is",      "server-status",
        "server-info",           "balancer-manager",
        "ldap-status",           "md-status",
        ADMISSION_STATUS_HANDLER
    };
    apr_size_t i;

    for (i = 0; i < sizeof(handlers) / sizeof(*handlers); i++) {
        if (strcmp(r->handler, handlers[i]) == 0) {
            return 1;
        }
    }
    return is_file_of_its_type(r);
}

/* A rule can have a request proxied and set another handler besides. */
static int is_dynamic(request_rec *r)
{
    return !is_cheap(r) || r->proxyreq != PROXYREQ_NONE
           || admission_may_exec(r);
}

static int is_named(const char *handler, const char *name)
{
    apr_size_t length = strlen(name);

    if (length && name[length - 1] == '*') {
        return strncmp(handler, name, length - 1) == 0;
    }
    return strcmp(handler, name) == 0;
}

int admission_counts(const admission_dir_conf_t *conf, request_rec *r)
{
    int i;

    if (!conf->handlers) {
        return is_dynamic(r);
    }
    for (i = 0; i < conf->handlers->nelts; i++) {
        const char *name = APR_ARRAY_IDX(conf->handlers, i, const char *);

        if (strcasecmp(name, "all") == 0
            || (strcasecmp(name, "dynamic") == 0
                    ? is_dynamic(r)
                    : is_named(r->handler, name))) {
            return 1;
        }
    }
    return 0;
}

/* ---- directives ------------------------------------------------------------------------------- */

/* Not for .htaccess: it is read at each request, and its authors must not make
 * or starve zones. ACCESS_CONF alone would let AllowOverrideList allow it. */
static const char *wrong_context(cmd_parms *cmd)
{
    return ap_check_cmd_context(cmd, NOT_IN_HTACCESS | NOT_IN_LIMIT);
}

/* @return a whole number from min to max, or -1. */
static int parse_number(const char *text, int min, int max)
{
    char *end;
    apr_int64_t number = apr_strtoi64(text, &end, 10);

    return apr_isdigit(*text) && *end == '\0' && number >= min && number <= max
               ? (int)number
               : -1;
}

/* A time in httpd's notation, from min up to a day. */
static int parse_time(const char *text, apr_interval_time_t min,
                      apr_interval_time_t *time)
{
    static const char *const units[] = { "", "ms", "s", "mi", "min", "h" };
    const char *unit = text;
    apr_size_t i;

    while (apr_isdigit(*unit)) {
        unit++;
    }
    /* httpd's parser looks at the first letters only. */
    for (i = 0; i < sizeof(units) / sizeof(*units); i++) {
        if (unit > text && strcmp(unit, units[i]) == 0) {
            return ap_timeout_parameter_parse(text, time, "s") == APR_SUCCESS
                   && *time >= min && *time <= MAX_TIME;
        }
    }
    return 0;
}

static const char *name_limit(apr_pool_t *p, int number)
{
    return number ? apr_itoa(p, number) : "off";
}

static const char *set_max_concurrent(cmd_parms *cmd, void *dir_conf,
                                      const char *arg)
{
    const char *error = wrong_context(cmd);
    int number = strcasecmp(arg, "off") == 0 ? 0
                                             : parse_number(arg, 1, MAX_LIMIT);
    admission_limit_t *limit;

    if (error) {
        return error;
    }
    if (number < 0) {
        return apr_psprintf(cmd->pool,
                            "MaxConcurrent: '%s' is not a number from 1 to %d "
                            "or 'off'",
                            arg, MAX_LIMIT);
    }
    limit = admission_note_limit(cmd, dir_conf);
    if (limit->number == ADMISSION_NO_NUMBER) {
        limit->number = number;
        limit->place = admission_place_of(cmd);
    }
    if (limit->number != number) {
        return apr_psprintf(cmd->pool,
                            "MaxConcurrent: '%s' differs from '%s' in %s; one "
                            "section has one number",
                            arg, name_limit(cmd->pool, limit->number),
                            limit->place);
    }
    return NULL;
}

static const char *set_queue(cmd_parms *cmd, void *dir_conf, const char *length,
                             const char *option)
{
    admission_dir_conf_t *conf = dir_conf;
    apr_interval_time_t timeout = DEFAULT_QUEUE_TIMEOUT;
    const char *error = wrong_context(cmd);
    int number = parse_number(length, 0, MAX_QUEUE);

    if (error) {
        return error;
    }
    if (number < 0) {
        return apr_psprintf(cmd->pool,
                            "AdmissionQueue: '%s' is not a length from 0, for "
                            "no queue, to %d",
                            length, MAX_QUEUE);
    }
    if (option
        && (strncasecmp(option, "timeout=", 8) != 0
            || !parse_time(option + 8, apr_time_from_msec(1), &timeout))) {
        return apr_psprintf(cmd->pool,
                            "AdmissionQueue: '%s' is not timeout=time with a "
                            "time from 1ms to 24h in ms, s, min or h, such as "
                            "timeout=30s; a length of 0 is for no queue",
                            option);
    }
    conf->queue_length = number;
    conf->queue_timeout = timeout;
    return NULL;
}

static const char *set_handlers(cmd_parms *cmd, void *dir_conf, int argc,
                                char *const argv[])
{
    admission_dir_conf_t *conf = dir_conf;
    apr_array_header_t *handlers;
    const char *error = wrong_context(cmd);
    int i;

    if (error) {
        return error;
    }
    if (argc == 0) {
        return "AdmissionHandlers: must be followed by 'dynamic', 'all' or "
               "names of handlers";
    }
    handlers = apr_array_make(cmd->pool, argc, sizeof(const char *));
    for (i = 0; i < argc; i++) {
        const char *star = strchr(argv[i], '*');

        if (*argv[i] == '\0' || (star && star[1])) {
            return apr_psprintf(cmd->pool,
                                "AdmissionHandlers: '%s' is not 'dynamic', "
                                "'all' or the name of a handler, which may end "
                                "with one '*'",
                                argv[i]);
        }
        APR_ARRAY_PUSH(handlers, const char *) = argv[i];
    }
    conf->handlers = handlers;
    return NULL;
}

static const char *set_zone(cmd_parms *cmd, void *dir_conf, const char *arg)
{
    const char *error = wrong_context(cmd);
    const char *c;

    if (error) {
        return error;
    }
    for (c = arg; *c && !apr_iscntrl(*c); c++) {
    }
    if (*arg == '\0' || *c || c - arg > 255) {
        return apr_psprintf(cmd->pool,
                            "AdmissionZone: '%s' is not a name of 1 to 255 "
                            "characters without control characters",
                            arg);
    }
    admission_note_limit(cmd, dir_conf)->zone_name = arg;
    return NULL;
}

static const char *set_exempt(cmd_parms *cmd, void *dir_conf, const char *args)
{
    admission_dir_conf_t *conf = dir_conf;
    const char *error = wrong_context(cmd);
    const char *text = args;

    if (error) {
        return error;
    }
    if (*args == '"' || *args == '\'') {
        text = ap_getword_conf(cmd->pool, &args);
        if (*args) {
            return apr_psprintf(cmd->pool,
                                "AdmissionExempt: '%s' follows the expression; "
                                "one expression is allowed",
                                args);
        }
    }
    if (*text == '\0') {
        return "AdmissionExempt: '' is not an expression; see 'Expressions in "
               "Apache HTTP Server'";
    }
    conf->exempt = ap_expr_parse_cmd(cmd, text, 0, &error, NULL);
    if (error) {
        return apr_psprintf(cmd->pool,
                            "AdmissionExempt: '%s' is not an expression that "
                            "httpd allows: %s",
                            text, error);
    }
    return NULL;
}

/* "retry-after=..." */
static int parse_retry(const char *option, admission_dir_conf_t *conf)
{
    apr_interval_time_t time;
    const char *value;

    if (strncasecmp(option, "retry-after=", 12) != 0) {
        return 0;
    }
    value = option + 12;
    if (strcasecmp(value, "auto") == 0) {
        conf->retry = ADMISSION_RETRY_AUTO;
    }
    else if (strcasecmp(value, "off") == 0) {
        conf->retry = ADMISSION_RETRY_OFF;
    }
    else if (parse_time(value, apr_time_from_sec(1), &time)) {
        conf->retry = ADMISSION_RETRY_FIXED;
        conf->retry_seconds = (int)apr_time_sec(time);
    }
    else {
        return 0;
    }
    return 1;
}

static const char *set_reject(cmd_parms *cmd, void *dir_conf,
                              const char *status, const char *option)
{
    admission_dir_conf_t *conf = dir_conf;
    const char *error = wrong_context(cmd);
    int number = parse_number(status, 400, 599);

    if (error) {
        return error;
    }
    if (number == HTTP_UNAUTHORIZED
        || number == HTTP_PROXY_AUTHENTICATION_REQUIRED) {
        return apr_psprintf(cmd->pool,
                            "AdmissionReject: '%s' has to tell the client how "
                            "to log in, which a rejection does not; allowed is "
                            "any other error status from 400 to 599, such as "
                            "503 or 429",
                            status);
    }
    /* A status that httpd does not know would be sent as 500. */
    if (number < 0
        || (number != HTTP_INTERNAL_SERVER_ERROR
            && ap_index_of_response(number)
                   == ap_index_of_response(HTTP_INTERNAL_SERVER_ERROR))) {
        return apr_psprintf(cmd->pool,
                            "AdmissionReject: '%s' is not an error status that "
                            "httpd knows, from 400 to 599, such as 503 or 429",
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

/* Not httpd's own kind of directive for this: its message lacks the value. */
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
    const char *error = wrong_context(cmd);

    return error ? error : parse_flag(cmd, arg, &conf->dry_run);
}

static const char *set_reserve(cmd_parms *cmd, void *dir_conf, const char *arg)
{
    admission_server_conf_t *conf =
        ap_get_module_config(cmd->server->module_config, &admission_module);
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);
    apr_size_t length = strlen(arg);
    int is_percent = length && arg[length - 1] == '%';
    int number = parse_number(is_percent
                                  ? apr_pstrmemdup(cmd->pool, arg, length - 1)
                                  : arg,
                              0, is_percent ? 99 : MAX_LIMIT);

    (void)dir_conf;
    if (error) {
        return error;
    }
    if (number < 0) {
        return apr_psprintf(cmd->pool,
                            "AdmissionReserve: '%s' is not a number of workers "
                            "from 0 to %d nor a share from 0%% to 99%%",
                            arg, MAX_LIMIT);
    }
    conf->reserve = number;
    conf->reserve_is_percent = is_percent;
    return NULL;
}

static const char *set_parking(cmd_parms *cmd, void *dir_conf, const char *arg)
{
    admission_server_conf_t *conf =
        ap_get_module_config(cmd->server->module_config, &admission_module);
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);

    (void)dir_conf;
    return error ? error : parse_flag(cmd, arg, &conf->parking);
}

/* "1000-2000", or "1000" for both. */
static int parse_range(apr_pool_t *p, const char *text, int *min, int *max)
{
    const char *dash = strchr(text, '-');

    *min = parse_number(dash ? apr_pstrmemdup(p, text, dash - text) : text, 1,
                        MAX_RECYCLE);
    *max = dash ? parse_number(dash + 1, 1, MAX_RECYCLE) : *min;
    return *min > 0 && *max >= *min;
}

static const char *set_recycle(cmd_parms *cmd, void *dir_conf,
                               const char *range, const char *option)
{
    admission_server_conf_t *conf =
        ap_get_module_config(cmd->server->module_config, &admission_module);
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);
    int is_off = strcasecmp(range, "off") == 0;
    int min = 0, max = 0, together = UNSET;

    (void)dir_conf;
    if (error) {
        return error;
    }
    if (!is_off && !parse_range(cmd->pool, range, &min, &max)) {
        return apr_psprintf(cmd->pool,
                            "AdmissionRecycle: '%s' is not a number of "
                            "connections from 1 to %d, nor a range min-max of "
                            "such numbers, nor 'off'",
                            range, MAX_RECYCLE);
    }
    if (is_off && option) {
        return apr_psprintf(cmd->pool,
                            "AdmissionRecycle: '%s' follows 'off', behind "
                            "which nothing is allowed",
                            option);
    }
    if (option) {
        together = strncasecmp(option, "together=", 9) == 0
                       ? parse_number(option + 9, 1, ADM_TURNS_MAX)
                       : UNSET;
        if (together == UNSET) {
            return apr_psprintf(cmd->pool,
                                "AdmissionRecycle: '%s' is not together=number "
                                "with a number from 1 to %d",
                                option, ADM_TURNS_MAX);
        }
    }
    conf->recycle_min = min;
    conf->recycle_max = max;
    conf->recycle_together = together;
    return NULL;
}

#define ZONE_CONTEXT (RSRC_CONF | ACCESS_CONF)

const command_rec admission_directives[] = {
    AP_INIT_TAKE1("MaxConcurrent", set_max_concurrent, NULL, ZONE_CONTEXT,
                  "how many counted requests run here at once, or 'off'"),
    AP_INIT_TAKE12("AdmissionQueue", set_queue, NULL, ZONE_CONTEXT,
                   "how many may wait, and timeout=time"),
    AP_INIT_TAKE_ARGV("AdmissionHandlers", set_handlers, NULL, ZONE_CONTEXT,
                      "which requests count: 'dynamic', 'all' or handlers"),
    AP_INIT_TAKE1("AdmissionZone", set_zone, NULL, ZONE_CONTEXT,
                  "name of the zone; sections of one name share one limit"),
    AP_INIT_RAW_ARGS("AdmissionExempt", set_exempt, NULL, ZONE_CONTEXT,
                     "expression: where it is true, a request runs at once"),
    AP_INIT_TAKE12("AdmissionReject", set_reject, NULL, ZONE_CONTEXT,
                   "status for rejected requests, and "
                   "retry-after=auto|off|time"),
    AP_INIT_TAKE1("AdmissionDryRun", set_dry_run, NULL, ZONE_CONTEXT,
                  "On or Off; On: decide and count as if, change nothing"),
    AP_INIT_TAKE1("AdmissionReserve", set_reserve, NULL, RSRC_CONF,
                  "workers that zones may never occupy, a number or percent"),
    AP_INIT_TAKE12("AdmissionRecycle", set_recycle, NULL, RSRC_CONF,
                   "min[-max] connections a child serves, and "
                   "together=number; or 'off'"),
    AP_INIT_TAKE1("AdmissionParking", set_parking, NULL, RSRC_CONF,
                  "On or Off; On: wait without a worker where the MPM can"),
    { .name = NULL }
};
