/* spool_conf.h - the directives AdmissionSpool and AdmissionSpoolLimit, and
 * their values.
 * Included by the configuration record and the list of directives.
 */
#ifndef SPOOL_CONF_H
#define SPOOL_CONF_H

#include <http_config.h>

#include "module/parse.h"

/** Per section. Bytes buffered of a body or a response; 0: off; -1: unset. */
typedef struct spool_conf_t {
    apr_off_t request, response;
} spool_conf_t;

#define SPOOL_CONF_UNSET \
    {                    \
        -1, -1           \
    }

/** @return the values of @a add; of @a base where @a add has none. */
static inline spool_conf_t spool_conf_merge(spool_conf_t base, spool_conf_t add)
{
    return (spool_conf_t){ add.request != -1 ? add.request : base.request,
                           add.response != -1 ? add.response : base.response };
}

/** @return how many bytes of a request body are buffered; 0: none. */
static inline apr_off_t spool_conf_request(const spool_conf_t *conf)
{
    return conf->request != -1 ? conf->request : (apr_off_t)1024 * 1024;
}

/** @return how many bytes of a response are buffered; 0: none. */
static inline apr_off_t spool_conf_response(const spool_conf_t *conf)
{
    return conf->response != -1 ? conf->response : (apr_off_t)16 * 1024 * 1024;
}

/** For the main server. */
typedef struct spool_server_conf_t {
    apr_off_t limit;       /* bytes of all children together; 0: unset */
    const char *directory; /* NULL: the temporary directory of APR */
} spool_server_conf_t;

/** httpd calls these for the directives. @return an error, or NULL. */
const char *spool_conf_set(cmd_parms *cmd, void *dir_conf, const char *first,
                           const char *second);

const char *spool_conf_set_limit(cmd_parms *cmd, void *dir_conf,
                                 const char *size, const char *directory);

#ifdef ADMISSION_WITHOUT_SPOOL

#define SPOOL_DIRECTIVES                            \
    ADMISSION_NOT_BUILT("AdmissionSpool", "spool"), \
        ADMISSION_NOT_BUILT("AdmissionSpoolLimit", "spool")

#else

#define SPOOL_DIRECTIVES                                                        \
    AP_INIT_TAKE12("AdmissionSpool", spool_conf_set, NULL, ZONE_CONTEXT,        \
                   "request=size|off and response=size|off: bytes to buffer "   \
                   "for slow clients"),                                         \
        AP_INIT_TAKE12(                                                         \
            "AdmissionSpoolLimit", spool_conf_set_limit, NULL, RSRC_CONF,       \
            "bytes to buffer for all slow clients together, and the directory " \
            "of the files")

#endif

#endif
