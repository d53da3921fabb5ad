/* parse.h - numbers and times as an administrator writes them. */
#ifndef MODULE_PARSE_H
#define MODULE_PARSE_H

#include <httpd.h>

#include "core/adm.h"

/** @return the whole number from @a min to @a max that @a text is, or -1. */
int admission_parse_number(const char *text, int min, int max);

/** @return the number of bytes from @a min to @a max that @a text is, with K, M, G or T
 *  behind it or nothing; or -1. */
apr_off_t admission_parse_size(const char *text, apr_off_t min, apr_off_t max);

/** Read a time in httpd's notation, from @a min up to a day. @return whether it
 *  is one. */
bool admission_parse_time(const char *text, adm_usec_t min, adm_usec_t *time);

/** Read "timeout=..." or "target=..." of AdmissionQueue into one of the two; a target
 *  of 0: off. @return whether it is one. */
bool admission_parse_queue_option(const char *option, adm_usec_t *timeout,
                                  adm_usec_t *target);

/** Read "1000-2000", or "1000" for both, of numbers from 1 to @a most. @return
 *  whether it is one. */
bool admission_parse_range(apr_pool_t *p, const char *text, int most, int *min,
                           int *max);

/** @return whether the name is a media type, one type and one subtype: what
 *  httpd itself serves as a file. */
bool admission_parse_is_media_type(const char *name);

#endif
