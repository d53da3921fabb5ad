/* fleet_conf.h - AdmissionEngine and AdmissionFleet: limits across servers. */
#ifndef FLEET_CONF_H
#define FLEET_CONF_H

#include <httpd.h>
#include <http_config.h>

#include "module/parse.h"
#include "core/adm.h"
#include "engine.h"

/** Part of the main server's configuration. */
typedef struct fleet_conf_t {
    const engine_provider_t *engine; /* NULL: none */
    const engine_address_t *engine_address;
    adm_usec_t lease;        /* 0: unset */
    adm_usec_t hold;         /* grace period after a lease; 0: auto */
    adm_fallback_t fallback; /* ADM_FALLBACK_NONE: unset */
} fleet_conf_t;

#ifdef ADMISSION_WITHOUT_FLEET

#define FLEET_IS_BUILT 0
#define FLEET_DIRECTIVES                             \
    ADMISSION_NOT_BUILT("AdmissionEngine", "fleet"), \
        ADMISSION_NOT_BUILT("AdmissionFleet", "fleet")

#else

/** Handlers of the directives, for httpd. */
const char *fleet_conf_set_engine(cmd_parms *cmd, void *dir_conf, int argc,
                                  char *const argv[]);

const char *fleet_conf_set_terms(cmd_parms *cmd, void *dir_conf, int argc,
                                 char *const argv[]);

#define FLEET_IS_BUILT 1
#define FLEET_DIRECTIVES                                                \
    AP_INIT_TAKE_ARGV(                                                  \
        "AdmissionEngine", fleet_conf_set_engine, NULL, RSRC_CONF,      \
        "URL of the server that distributes shared limits, hosts, "     \
        "and options such as password-file=path and "                   \
        "timeout=time"),                                                \
        AP_INIT_TAKE_ARGV("AdmissionFleet", fleet_conf_set_terms, NULL, \
                          RSRC_CONF,                                    \
                          "lease=time, hold=time|auto and "             \
                          "fallback=keep|reject|open")

/** @return the configuration, with the defaults of what is unset. */
fleet_conf_t admission_fleet(server_rec *s);

#endif

#endif
