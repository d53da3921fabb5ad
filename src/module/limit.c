/* limit.c - the argument of MaxConcurrent: a number, auto, or off. */
#include <httpd.h>
#include <apr_strings.h>

#include "conf.h"
#include "limit.h"
#include "parse.h"

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
