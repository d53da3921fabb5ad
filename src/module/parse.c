/* parse.c - limits, queues, numbers, sizes, times and ranges in directives. */
#include <apr_lib.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>

#include "parse.h"

APLOG_USE_MODULE(admission);

#define MAX_TIME (86400 * ADM_USEC_PER_SEC)

bool admission_parse_is_one_of(const char *word, const char *const *list)
{
    while (*list && strcmp(word, *list) != 0) {
        list++;
    }
    return *list != NULL;
}

int admission_parse_number(const char *text, int min, int max)
{
    char *end;
    apr_int64_t number = apr_strtoi64(text, &end, 10);

    return apr_isdigit(*text) && *end == '\0' && number >= min && number <= max
               ? (int)number
               : -1;
}

apr_off_t admission_parse_size(const char *text, apr_off_t min, apr_off_t max)
{
    static const char units[] = "KMGT";
    const char *unit;
    char *end;
    apr_int64_t number = apr_strtoi64(text, &end, 10);
    int shift = 0;

    if (!apr_isdigit(*text)) {
        return -1;
    }
    if (*end) {
        unit = strchr(units, apr_toupper(*end));
        if (!unit || end[1]) {
            return -1;
        }
        shift = 10 * (int)(unit - units + 1);
    }
    return number <= (max >> shift) && number << shift >= min
               ? (apr_off_t)(number << shift)
               : -1;
}

bool admission_parse_time(const char *text, adm_usec_t min, adm_usec_t *time)
{
    static const char *const units[] = {
        "", "ms", "s", "mi", "min", "h", NULL
    };
    const char *unit = text;
    apr_interval_time_t parsed;

    while (apr_isdigit(*unit)) {
        unit++;
    }
    /* Check the unit here: httpd's parser ignores all but its first letters. */
    if (unit == text || !admission_parse_is_one_of(unit, units)
        || ap_timeout_parameter_parse(text, &parsed, "s") != APR_SUCCESS) {
        return false;
    }
    *time = parsed;
    return parsed >= min && parsed <= MAX_TIME;
}

const char *admission_limit_parse(apr_pool_t *p, const char *arg,
                                  const char *min, admission_limit_t *limit)
{
    *limit = (admission_limit_t){
        .number = strcasecmp(arg, "off") == 0
                      ? 0
                      : admission_parse_number(arg, 1, ADMISSION_LIMIT_MAX)
    };
    if (limit->number < 0) {
        return apr_psprintf(p,
                            "MaxConcurrent: '%s' is not a number from 1 to %d, "
                            "'auto' or 'off'",
                            arg, ADMISSION_LIMIT_MAX);
    }
    return min ? apr_psprintf(p,
                              "MaxConcurrent: unexpected argument '%s' after "
                              "'%s'; a minimum and a maximum are for auto",
                              min, arg)
               : NULL;
}

const char *admission_limit_name(apr_pool_t *p, const admission_limit_t *limit)
{
    if (!limit->is_auto) {
        return limit->number ? apr_itoa(p, limit->number) : "off";
    }
    return limit->number
               ? apr_psprintf(p, "auto %d %d", limit->min, limit->number)
               : apr_psprintf(p, "auto %d", limit->min);
}

bool admission_limit_is_same(const admission_limit_t *a,
                             const admission_limit_t *b)
{
    return a->number == b->number && a->is_auto == b->is_auto
           && a->min == b->min;
}

bool admission_parse_queue_option(const char *option, admission_queue_t *queue)
{
    if (strcasecmp(option, "target=off") == 0) {
        queue->target = 0;
        return true;
    }
    if (strncasecmp(option, "target=", 7) == 0) {
        return admission_parse_time(option + 7, apr_time_from_msec(1),
                                    &queue->target);
    }
    return strncasecmp(option, "timeout=", 8) == 0
           && admission_parse_time(option + 8, apr_time_from_msec(1),
                                   &queue->timeout);
}

bool admission_parse_range(apr_pool_t *p, const char *text, int most, int *min,
                           int *max)
{
    const char *dash = strchr(text, '-');

    *min = admission_parse_number(dash ? apr_pstrmemdup(p, text, dash - text)
                                       : text,
                                  1, most);
    *max = dash ? admission_parse_number(dash + 1, 1, most) : *min;
    return *min > 0 && *max >= *min;
}

const char *admission_parse_condition(cmd_parms *cmd, const char *args,
                                      const ap_expr_info_t **expression)
{
    const char *text = args, *error = NULL;

    if (*args == '"' || *args == '\'') {
        text = ap_getword_conf(cmd->pool, &args);
        if (*args) {
            return apr_psprintf(cmd->pool,
                                "%s: unexpected argument '%s' after the "
                                "expression",
                                cmd->cmd->name, args);
        }
    }
    *expression = ap_expr_parse_cmd(cmd, text, 0, &error, NULL);
    return error ? apr_psprintf(cmd->pool,
                                "%s: '%s' is not an expression that httpd "
                                "allows: %s",
                                cmd->cmd->name, text, error)
                 : NULL;
}

/* type/subtype, except for names that modules use as handlers of programs. */
bool admission_parse_is_media_type(const char *name)
{
    const char *slash = ap_scan_http_token(name);
    const char *subtype = *slash == '/' ? slash + 1 : slash;
    const char *end = ap_scan_http_token(subtype);

    return slash > name && subtype > slash && end > subtype && *end == '\0'
           && strncasecmp(name, "application/x-httpd-", 20) != 0
           && strcasecmp(name, "text/x-server-parsed-html") != 0;
}

const char *admission_parse_not_built(cmd_parms *cmd, void *dir_conf,
                                      const char *args)
{
    return apr_psprintf(cmd->pool, "%s: %s", cmd->cmd->name, cmd->cmd->errmsg);
}
