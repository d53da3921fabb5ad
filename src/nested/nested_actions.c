/* nested_actions.c - which script Action of mod_actions leads to.
 *
 * mod_actions does not export its configuration. But httpd passes a directive
 * to each module that declares one of that name.
 */
#include <httpd.h>
#include <apr_strings.h>
#include <http_core.h>

#include "nested_actions.h"

/* First character of a table value: whether Action has the option `virtual`.
 * Otherwise it applies only if the requested file exists. */
#define VIRTUAL '1'
#define NEEDS_FILE '0'

/* Reject the directive as httpd would without us, if mod_actions is not loaded.
 * @return an error message; NULL: mod_actions reads the directive, too. */
static const char *check_actions_loaded(const cmd_parms *cmd)
{
    if (ap_find_linked_module("mod_actions.c")
        || (cmd->override & NONFATAL_UNKNOWN)) {
        return NULL;
    }
    return apr_pstrcat(cmd->pool, "Invalid command '", cmd->cmd->name,
                       "', perhaps misspelled or defined by a module not "
                       "included in the server configuration",
                       NULL);
}

const char *admission_actions_note(cmd_parms *cmd, void *dir_conf,
                                   const char *type, const char *script,
                                   const char *option)
{
    admission_dir_conf_t *conf = dir_conf;
    const char *error = check_actions_loaded(cmd);

    if (error) {
        return error;
    }
    if (!conf->actions) {
        conf->actions = apr_table_make(cmd->pool, 2);
    }
    apr_table_setn(conf->actions, type,
                   apr_psprintf(cmd->pool, "%c%s",
                                option ? VIRTUAL : NEEDS_FILE, script));
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

    if (!script || (*script == NEEDS_FILE && r->finfo.filetype == APR_NOFILE)) {
        return NULL;
    }
    return apr_pstrcat(r->pool, script + 1, ap_escape_uri(r->pool, r->uri),
                       NULL);
}
