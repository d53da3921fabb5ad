/* nested_actions.h - which program Action and Script of mod_actions lead to. */
#ifndef NESTED_ACTIONS_H
#define NESTED_ACTIONS_H

#include <apr_tables.h>

#include "module/conf.h"

/** Read along what mod_actions reads: Action, also in .htaccess. */
const char *admission_actions_note(cmd_parms *cmd, void *dir_conf,
                                   const char *type, const char *script,
                                   const char *option);

/** The same for Script, which .htaccess cannot have. */
const char *admission_actions_note_script(cmd_parms *cmd, void *dir_conf,
                                          const char *method,
                                          const char *script);

/** @return those of a section and of the one around it. */
apr_table_t *admission_actions_merge(apr_pool_t *p, apr_table_t *base,
                                     apr_table_t *add);

/** @return the URI without a query string to which mod_actions redirects the
 *  request; NULL: to none.
 *
 *  @param is_file  no other handler takes it before mod_actions does */
const char *admission_actions_target(const admission_dir_conf_t *conf,
                                     request_rec *r, bool is_file);

#endif
