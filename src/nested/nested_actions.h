/* nested_actions.h - which script Action of mod_actions leads to. */
#ifndef NESTED_ACTIONS_H
#define NESTED_ACTIONS_H

#include <apr_tables.h>

#include "module/conf.h"

/** Read the directive Action along with mod_actions, also in .htaccess: store
 *  which script it leads to. @return an error message; NULL: none. */
const char *admission_actions_note(cmd_parms *cmd, void *dir_conf,
                                   const char *type, const char *script,
                                   const char *option);

/** @return the actions of a section, @a add, merged over those around it. */
apr_table_t *admission_actions_merge(apr_pool_t *p, apr_table_t *base,
                                     apr_table_t *add);

/** @return the path, escaped and without a query string, that mod_actions
 *  redirects the request to; NULL if it does not redirect. */
const char *admission_actions_target(const admission_dir_conf_t *conf,
                                     request_rec *r);

#endif
