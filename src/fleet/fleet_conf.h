/* fleet_conf.h - AdmissionEngine and AdmissionFleet: limits over servers. */
#ifndef FLEET_CONF_H
#define FLEET_CONF_H

#include <httpd.h>
#include <http_config.h>

#include "engine.h"

#include "module/conf.h"

/** httpd's functions for these directives. */
const char *admission_fleet_set_engine(cmd_parms *cmd, void *dir_conf, int argc,
                                       char *const argv[]);

const char *admission_fleet_set_terms(cmd_parms *cmd, void *dir_conf, int argc,
                                      char *const argv[]);

/** What holds of all zones that are shared. */
typedef struct admission_fleet_t {
    const engine_provider_t *provider; /* NULL: there is no engine */
    const engine_address_t *address;
    adm_usec_t lease;
    adm_usec_t hold; /* 0: by what requests take */
    adm_fallback_t fallback;
} admission_fleet_t;

/** @return what the configuration says, with defaults. */
admission_fleet_t admission_fleet(server_rec *s);

/** @return the word for a fallback. */
const char *admission_fleet_fallback_name(adm_fallback_t fallback);

#endif
