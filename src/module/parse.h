/* parse.h - limits, queues, numbers, sizes, times and ranges in directives. */
#ifndef MODULE_PARSE_H
#define MODULE_PARSE_H

#include <httpd.h>
#include <http_config.h>

#include <ap_expr.h>

#include "core/adm.h"

/** @return whether the word is in the list, which ends with NULL. */
bool admission_parse_is_one_of(const char *word, const char *const *list);

/** @return the whole number in @a text; -1 if it is not one from @a min to
 *  @a max. */
int admission_parse_number(const char *text, int min, int max);

/** @return the size in @a text, in bytes, with an optional unit K, M, G or T;
 *  -1 if it is not one from @a min to @a max. */
apr_off_t admission_parse_size(const char *text, apr_off_t min, apr_off_t max);

/** Parse a time in httpd's notation, from @a min to one day. @return whether it
 *  is valid. */
bool admission_parse_time(const char *text, adm_usec_t min, adm_usec_t *time);

/** Largest limit and queue length of a zone. */
#define ADMISSION_LIMIT_MAX 65535
#define ADMISSION_QUEUE_MAX 65535

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

/** AdmissionQueue. */
typedef struct admission_queue_t {
    int length;
    adm_usec_t timeout;
    adm_usec_t target; /* 0: off */
} admission_queue_t;

/** Parse an option of AdmissionQueue, "timeout=..." or "target=...". @return
 *  whether it is valid. */
bool admission_parse_queue_option(const char *option, admission_queue_t *queue);

/** Parse "1000-2000", or "1000" for both, with numbers from 1 to @a most.
 *  @return whether it is valid. */
bool admission_parse_range(apr_pool_t *p, const char *text, int most, int *min,
                           int *max);

/** Parse the rest of a directive's line as an expression, with or without
 *  quotes. @return an error message; NULL: none. */
const char *admission_parse_condition(cmd_parms *cmd, const char *args,
                                      const ap_expr_info_t **expression);

/** @return whether the name is a media type, such as text/html, which httpd
 *  serves as a static file. */
bool admission_parse_is_media_type(const char *name);

/** Reject a directive of a capability that this build lacks. @return its help text, which
 *  names the capability, as an error. */
const char *admission_parse_not_built(cmd_parms *cmd, void *dir_conf,
                                      const char *args);

/** A row of the list of directives for it. */
#define ADMISSION_NOT_BUILT(directive, part)                     \
    AP_INIT_RAW_ARGS(directive, admission_parse_not_built, NULL, \
                     RSRC_CONF | ACCESS_CONF, "this build has no " part)

#endif
