/* nice_conf.h - the directive AdmissionNice, and what it sets.
 * Included by the configuration record and the list of directives.
 */
#ifndef NICE_CONF_H
#define NICE_CONF_H

#include <http_config.h>

#include "module/parse.h"

/** Unset in a section. */
#define NICE_CONF_UNSET (-1)

/** @return the nice value of programs, 0 to 19. */
static inline int nice_conf_number(int number)
{
    return number != NICE_CONF_UNSET ? number : 0;
}

const char *nice_conf_set(cmd_parms *cmd, void *dir_conf, const char *number);

#ifdef ADMISSION_WITHOUT_NICE

#define NICE_DIRECTIVES ADMISSION_NOT_BUILT("AdmissionNice", "nice")

#else

#define NICE_DIRECTIVES                                               \
    AP_INIT_TAKE1("AdmissionNice", nice_conf_set, NULL, ZONE_CONTEXT, \
                  "a number, 0 to 19: the nice value of programs")

#endif

#endif
