/* older_httpd.h - included before all else, it takes back what the headers of a
 * new httpd offer and those of 2.4.49 do not: the module must build without. */
#include <ap_mpm.h>

#undef AP_MPMQ_CAN_WAITIO
