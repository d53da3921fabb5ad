/* limit.h - what MaxConcurrent says: a number, auto, or off. */
#ifndef MODULE_LIMIT_H
#define MODULE_LIMIT_H

#include <stdbool.h>

#include <apr_pools.h>

/** What MaxConcurrent says. */
typedef struct admission_limit_t {
    int number; /* 0: off; ADMISSION_NO_NUMBER: nothing. Where it finds itself:
                  * the maximum, 0: as many as the workers allow */
    bool is_auto; /* it finds itself */
    int min;      /* the minimum then, else 0 */
} admission_limit_t;

#define ADMISSION_NO_NUMBER (-1)

/** Read the arguments of MaxConcurrent other than auto: a number or off. @a min, what
 *  follows it, may be NULL. @return what is wrong with them; NULL: nothing. */
const char *admission_limit_parse(apr_pool_t *p, const char *arg,
                                  const char *min, admission_limit_t *limit);

/** @return the arguments as they could be written. */
const char *admission_limit_name(apr_pool_t *p, const admission_limit_t *limit);

/** @return whether both say the same. */
bool admission_limit_is_same(const admission_limit_t *a,
                             const admission_limit_t *b);

#endif
