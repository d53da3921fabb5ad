/* auto_conf.c - what MaxConcurrent says: a number, auto, or off. */
#include <httpd.h>
#include <apr_strings.h>

#include "module/conf.h"
#include "auto_conf.h"
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

static const char *parse_auto(apr_pool_t *p, const char *min, const char *max,
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

const char *admission_limit_parse(apr_pool_t *p, const char *arg,
                                  const char *min, const char *max,
                                  admission_limit_t *limit)
{
    if (strcasecmp(arg, "auto") == 0) {
        return parse_auto(p, min, max, limit);
    }
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
                              "MaxConcurrent: '%s' follows '%s', behind which "
                              "nothing is allowed; a minimum and a maximum are "
                              "for auto",
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
