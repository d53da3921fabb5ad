/* mod_admission_actions.c - which program an Action of mod_actions leads to.
 *
 * mod_actions tells nobody. But httpd shows a directive to every module that
 * has one of its name.
 */
#include <httpd.h>
#include <apr_strings.h>
#include <http_core.h>

#include "config/mod_admission_actions.h"

/* In front of a script that need not exist as a file. */
#define VIRTUAL '1'
#define A_FILE '0'

const char *admission_actions_note(cmd_parms *cmd, void *dir_conf,
                                   const char *type, const char *script,
                                   const char *option)
{
    admission_dir_conf_t *conf = dir_conf;

    if (!ap_find_linked_module("mod_actions.c")) {
        /* As if we did not know it either. */
        return (cmd->override & NONFATAL_UNKNOWN)
                   ? NULL
                   : "Invalid command 'Action', perhaps misspelled or defined "
                     "by a module not included in the server configuration";
    }
    if (!conf->actions) {
        conf->actions = apr_table_make(cmd->pool, 2);
    }
    apr_table_setn(conf->actions, type,
                   apr_psprintf(cmd->pool, "%c%s", option ? VIRTUAL : A_FILE,
                                script));
    return NULL;
}

apr_table_t *admission_actions_merge(apr_pool_t *p, apr_table_t *base,
                                     apr_table_t *add)
{
    return base && add ? apr_table_overlay(p, add, base) : add ? add : base;
}

const char *admission_actions_target(const admission_dir_conf_t *conf,
                                     request_rec *r)
{
    const char *script = conf->actions
                             ? apr_table_get(conf->actions, r->handler)
                             : NULL;

    if (!script || (*script == A_FILE && r->finfo.filetype == APR_NOFILE)) {
        return NULL;
    }
    return apr_pstrcat(r->pool, script + 1, ap_escape_uri(r->pool, r->uri),
                       NULL);
}
