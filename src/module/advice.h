/* advice.h - what cannot work as it is configured. */
#ifndef MODULE_ADVICE_H
#define MODULE_ADVICE_H

#include <httpd.h>

/** Refuse what leaves zones nothing: the hook check_config, when the MPM's numbers
 *  are settled. @return OK, or an error that was logged. */
int admission_advice_check_config(apr_pool_t *pconf, apr_pool_t *plog,
                                  apr_pool_t *ptemp, server_rec *s);

/** Warn at start. */
int admission_advice_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                 apr_pool_t *ptemp, server_rec *s);

/** `httpd -t`: the same warnings; with -D DUMP_ADMISSION, all zones. */
void admission_advice_test_config(apr_pool_t *pconf, server_rec *s);

#endif
