/* older_httpd.h - included before all else, it takes back what the headers of a
 * new httpd offer and those of 2.4.37 do not: the module must build without. */
#define ADMISSION_AS_OLDEST

#include <ap_mpm.h>
#include <http_config.h>
#include <httpd.h>
#include <mpm_common.h>

#undef AP_MPMQ_CAN_WAITIO

/* An error where they are not left out. */
#pragma GCC poison ap_hook_child_stopping outgoing
