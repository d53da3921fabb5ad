/* fair_conf.h - order of the queue: AdmissionFair, AdmissionPriority and
 * AdmissionCost.
 */
#ifndef FAIR_CONF_H
#define FAIR_CONF_H

#include "module/conf.h"

/** httpd calls these for the directives. @return an error, or NULL. */
const char *admission_fair_set(cmd_parms *cmd, void *dir_conf, const char *key,
                               const char *option);

const char *admission_fair_set_priority(cmd_parms *cmd, void *dir_conf,
                                        const char *args);

const char *admission_fair_set_cost(cmd_parms *cmd, void *dir_conf,
                                    const char *args);

#endif
