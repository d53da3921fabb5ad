/* parse.h - numbers, sizes, times and ranges in directives. */
#ifndef MODULE_PARSE_H
#define MODULE_PARSE_H

#include <httpd.h>
#include <http_config.h>

#include "core/adm.h"

/** @return the whole number in @a text; -1 if it is not one from @a min to
 *  @a max. */
int admission_parse_number(const char *text, int min, int max);

/** @return the size in @a text, in bytes, with an optional unit K, M, G or T;
 *  -1 if it is not one from @a min to @a max. */
apr_off_t admission_parse_size(const char *text, apr_off_t min, apr_off_t max);

/** Parse a time in httpd's notation, from @a min to one day. @return whether it
 *  is valid. */
bool admission_parse_time(const char *text, adm_usec_t min, adm_usec_t *time);

/** Parse an option of AdmissionQueue, "timeout=..." or "target=...", into
 *  @a timeout or @a target; a target of 0 is off. @return whether it is valid.
 */
bool admission_parse_queue_option(const char *option, adm_usec_t *timeout,
                                  adm_usec_t *target);

/** Parse "1000-2000", or "1000" for both, with numbers from 1 to @a most.
 *  @return whether it is valid. */
bool admission_parse_range(apr_pool_t *p, const char *text, int most, int *min,
                           int *max);

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
