/* nested_actions.c - which script Action and Script of mod_actions lead to.
 *
 * mod_actions does not export its configuration. But httpd passes a directive
 * to each module that declares one of that name.
 */
#include <httpd.h>
#include <apr_strings.h>
#include <http_core.h>

#include "nested_actions.h"

/* First character of a table value: whether the script must exist as a file. */
#define VIRTUAL '1'
#define A_FILE '0'

/* Prefix of a method in the table's keys. Cannot clash with a handler, whose
 * name has no blank. */
#define SCRIPT "Script "

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

static void note(cmd_parms *cmd, admission_dir_conf_t *conf, const char *key,
                 char kind, const char *script)
{
    if (!conf->actions) {
        conf->actions = apr_table_make(cmd->pool, 2);
    }
    apr_table_setn(conf->actions, key,
                   apr_psprintf(cmd->pool, "%c%s", kind, script));
}

const char *admission_actions_note(cmd_parms *cmd, void *dir_conf,
                                   const char *type, const char *script,
                                   const char *option)
{
    const char *error = check_actions_loaded(cmd);

    if (!error) {
        note(cmd, dir_conf, type, option ? VIRTUAL : A_FILE, script);
    }
    return error;
}

const char *admission_actions_note_script(cmd_parms *cmd, void *dir_conf,
                                          const char *method,
                                          const char *script)
{
    const char *error = check_actions_loaded(cmd);

    if (!error) {
        note(cmd, dir_conf, apr_pstrcat(cmd->pool, SCRIPT, method, NULL),
             VIRTUAL, script);
    }
    return error;
}

apr_table_t *admission_actions_merge(apr_pool_t *p, apr_table_t *base,
                                     apr_table_t *add)
{
    return base && add ? apr_table_overlay(p, add, base) : add ? add : base;
}

/* Script of the request's method. HEAD uses the script of GET. A GET without a
 * query string does not use a script: mod_actions leaves it to the file's
 * handler. */
static const char *script_for_method(const apr_table_t *actions,
                                     const request_rec *r)
{
    const char *method = r->method_number == M_GET ? "GET" : r->method;

    return r->method_number == M_GET && !r->args
               ? NULL
               : apr_table_get(actions,
                               apr_pstrcat(r->pool, SCRIPT, method, NULL));
}

const char *admission_actions_target(const admission_dir_conf_t *conf,
                                     request_rec *r, bool is_file)
{
    const char *script = conf->actions
                             ? apr_table_get(conf->actions, r->handler)
                             : NULL;

    if (!script && conf->actions && is_file) {
        script = script_for_method(conf->actions, r);
    }
    if (!script || (*script == A_FILE && r->finfo.filetype == APR_NOFILE)) {
        return NULL;
    }
    return apr_pstrcat(r->pool, script + 1, ap_escape_uri(r->pool, r->uri),
                       NULL);
}
