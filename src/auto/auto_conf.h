/* auto_conf.h - MaxConcurrent auto, and the directive AdmissionStateFile.
 * Included by the configuration record and the list of directives.
 */
#ifndef AUTO_CONF_H
#define AUTO_CONF_H

#include <http_config.h>

#include "module/parse.h"

/** Part of the main server's configuration. */
typedef struct auto_conf_t {
    const char *state_file; /* NULL: unset; "": off */
} auto_conf_t;

#ifdef ADMISSION_WITHOUT_AUTO

static inline const char *auto_conf_parse(apr_pool_t *p, const char *min,
                                          const char *max,
                                          admission_limit_t *limit)
{
    return "MaxConcurrent: 'auto': this build has no auto";
}

#define AUTO_DIRECTIVES ADMISSION_NOT_BUILT("AdmissionStateFile", "auto")

#else

/** Read the arguments of MaxConcurrent auto; each may be NULL. @return an error, or
 *  NULL. */
const char *auto_conf_parse(apr_pool_t *p, const char *min, const char *max,
                            admission_limit_t *limit);

const char *auto_conf_set_state_file(cmd_parms *cmd, void *dir_conf,
                                     const char *arg);

#define AUTO_DIRECTIVES                                                   \
    AP_INIT_TAKE1("AdmissionStateFile", auto_conf_set_state_file, NULL,   \
                  RSRC_CONF,                                              \
                  "file that preserves automatic limits across stop and " \
                  "start, or 'off'")

#endif

#endif
