/* parse.c - numbers, sizes, times and ranges in directives. */
#include <apr_lib.h>
#include <apr_strings.h>
#include <http_core.h>

#include "parse.h"

#define MAX_TIME (86400 * ADM_USEC_PER_SEC)

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
    static const char *const units[] = { "", "ms", "s", "mi", "min", "h" };
    const char *unit = text;
    apr_interval_time_t parsed;
    apr_size_t i;

    while (apr_isdigit(*unit)) {
        unit++;
    }
    /* httpd's parser ignores all but the first letters of a unit. */
    for (i = 0; i < sizeof(units) / sizeof(*units); i++) {
        if (unit > text && strcmp(unit, units[i]) == 0) {
            if (ap_timeout_parameter_parse(text, &parsed, "s") != APR_SUCCESS) {
                return false;
            }
            *time = parsed;
            return parsed >= min && parsed <= MAX_TIME;
        }
    }
    return false;
}

bool admission_parse_queue_option(const char *option, adm_usec_t *timeout,
                                  adm_usec_t *target)
{
    if (strcasecmp(option, "target=off") == 0) {
        *target = 0;
        return true;
    }
    if (strncasecmp(option, "target=", 7) == 0) {
        return admission_parse_time(option + 7, apr_time_from_msec(1), target);
    }
    return strncasecmp(option, "timeout=", 8) == 0
           && admission_parse_time(option + 8, apr_time_from_msec(1), timeout);
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
