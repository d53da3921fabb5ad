/* spool_conf.h - AdmissionSpool and AdmissionSpoolLimit. */
#ifndef MOD_ADMISSION_SLOW_H
#define MOD_ADMISSION_SLOW_H

#include <httpd.h>
#include <http_config.h>

/** httpd's functions for the two directives. @return what is wrong, or NULL. */
const char *admission_slow_set_spool(cmd_parms *cmd, void *dir_conf,
                                     const char *first, const char *second);

const char *admission_slow_set_limit(cmd_parms *cmd, void *dir_conf,
                                     const char *size, const char *directory);

#endif
