/* limit.h - the argument of MaxConcurrent: a number, auto, or off. */
#ifndef MODULE_LIMIT_H
#define MODULE_LIMIT_H

#include <stdbool.h>

#include <apr_pools.h>

/** A limit as MaxConcurrent sets it. */
typedef struct admission_limit_t {
    int number;   /* 0: off; ADMISSION_NO_NUMBER: not set. If automatic, the
                   * maximum; 0: as many as the workers allow */
    bool is_auto; /* automatic limit */
    int min;      /* minimum of an automatic limit, otherwise 0 */
} admission_limit_t;

#define ADMISSION_NO_NUMBER (-1)

/** Parse the arguments of MaxConcurrent other than auto: a number or off.
 *  @param min a second argument, or NULL
 *  @return an error message; NULL: none. */
const char *admission_limit_parse(apr_pool_t *p, const char *arg,
                                  const char *min, admission_limit_t *limit);

/** @return the limit in the form of the directive's arguments. */
const char *admission_limit_name(apr_pool_t *p, const admission_limit_t *limit);

/** @return whether both limits are equal. */
bool admission_limit_is_same(const admission_limit_t *a,
                             const admission_limit_t *b);

#endif
