/* recycle_conf.h - the directive AdmissionRecycle, and its values.
 * Included by the configuration record and the list of directives.
 */
#ifndef RECYCLE_CONF_H
#define RECYCLE_CONF_H

#include <http_config.h>

#include "module/parse.h"

/** For the main server. */
typedef struct recycle_conf_t {
    int min, max; /* range of the quotas, in connections; 0: off */
    int together; /* 0: unset */
} recycle_conf_t;

/** httpd calls this for the directive. @return an error, or NULL. */
const char *recycle_set(cmd_parms *cmd, void *dir_conf, const char *range,
                        const char *option);

#ifdef ADMISSION_WITHOUT_RECYCLE

#define RECYCLE_DIRECTIVES ADMISSION_NOT_BUILT("AdmissionRecycle", "recycle")

#else

#define RECYCLE_DIRECTIVES                                           \
    AP_INIT_TAKE12("AdmissionRecycle", recycle_set, NULL, RSRC_CONF, \
                   "min[-max] connections for each child, and "      \
                   "together=number; or 'off'")

#endif

#endif
