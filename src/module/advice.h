/* advice.h - errors and warnings about the configuration as a whole. */
#ifndef MODULE_ADVICE_H
#define MODULE_ADVICE_H

#include <httpd.h>

/** The hook check_config, which runs when the MPM's settings are final: refuse
 *  an AdmissionReserve that leaves no workers for zones. @return OK, or an
 *  error that was logged. */
int admission_advice_check_config(apr_pool_t *pconf, apr_pool_t *plog,
                                  apr_pool_t *ptemp, server_rec *s);

/** Log the warnings. */
void admission_advice_start(apr_pool_t *p, server_rec *s);

/** The hook test_config (`httpd -t`): log the warnings, or list all zones with
 *  -D DUMP_ADMISSION. */
void admission_advice_test_config(apr_pool_t *pconf, server_rec *s);

#endif
