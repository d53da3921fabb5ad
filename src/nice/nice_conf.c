/* nice_conf.c - the directive AdmissionNice. */
#include <httpd.h>
#include <apr_strings.h>

#include "module/conf.h"
#include "module/location.h"
#include "module/parse.h"

/* The lowest priority of the scheduler; negative numbers need root. */
#define MAX_NICE 19

const char *nice_conf_set(cmd_parms *cmd, void *dir_conf, const char *number)
{
    admission_dir_conf_t *conf = dir_conf;
    const char *error = admission_location_mark(cmd, dir_conf);

    if (error) {
        return error;
    }
    conf->nice = admission_parse_number(number, 0, MAX_NICE);
    return conf->nice >= 0
               ? NULL
               : apr_psprintf(cmd->pool,
                              "AdmissionNice: '%s' is not a number from 0 "
                              "to %d",
                              number, MAX_NICE);
}
