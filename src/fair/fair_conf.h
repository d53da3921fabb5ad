/* fair_conf.h - who is served first: AdmissionFair, AdmissionPriority and
 * AdmissionCost. */
#ifndef FAIR_CONF_H
#define FAIR_CONF_H

#include "module/conf.h"

/** httpd's functions for the directives. */
const char *admission_fair_set(cmd_parms *cmd, void *dir_conf, const char *key,
                               const char *option);

const char *admission_fair_set_priority(cmd_parms *cmd, void *dir_conf,
                                        const char *args);

const char *admission_fair_set_cost(cmd_parms *cmd, void *dir_conf,
                                    const char *args);

#endif
