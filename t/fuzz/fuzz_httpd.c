/* fuzz_httpd.c - what the configuration code needs of httpd, without httpd.
 *
 * Functions of httpd's API with httpd's results for what the directives' code
 * asks of them, and as strict as a sanitizer needs: each returned text is a
 * piece of memory of its own.
 */
#include <stdlib.h>
#include <string.h>

#include <httpd.h>
#include <ap_provider.h>
#include <apr_lib.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>
#include <ap_mpm.h>
#include <http_main.h>
#include <http_protocol.h>
#include <http_request.h>
#include <util_filter.h>

#include "module/conf.h"

module AP_MODULE_DECLARE_DATA admission_module = { STANDARD20_MODULE_STUFF,
                                                   admission_conf_create_dir,
                                                   admission_conf_merge_dir,
                                                   admission_conf_create_server,
                                                   NULL,
                                                   admission_directives,
                                                   NULL,
                                                   0 };

ap_directive_t *ap_conftree;

char *ap_server_root_relative(apr_pool_t *p, const char *name)
{
    return *name == '/' ? apr_pstrdup(p, name) : apr_pstrcat(p, "/", name, NULL);
}

int ap_is_directory(apr_pool_t *p, const char *name)
{
    return strlen(name) % 2 == 0; /* some are, some are not */
}

/* Nothing asks for a request here. */
apr_size_t ap_register_request_note(void)
{
    return 0;
}

void **ap_get_request_note(request_rec *r, apr_size_t number)
{
    abort();
}

void ap_hook_translate_name(ap_HOOK_translate_name_t *hook, const char *const *before,
                            const char *const *after, int order)
{
}

/* Any: the fuzzed configuration has no .htaccess and no <Limit>. */
const char *ap_check_cmd_context(cmd_parms *cmd, unsigned forbidden)
{
    return cmd->override == 0 ? apr_psprintf(cmd->pool, "%s not allowed here", cmd->cmd->name)
                              : NULL;
}

static void skip_space(const char **line)
{
    while (apr_isspace(**line)) {
        ++*line;
    }
}

char *ap_getword_conf(apr_pool_t *p, const char **line)
{
    const char *text;
    char *word, *out;
    char quote = '\0';

    skip_space(line);
    if (**line == '"' || **line == '\'') {
        quote = *(*line)++;
    }
    text = *line;
    out = word = apr_pcalloc(p, strlen(text) + 1);
    while (*text && (quote ? *text != quote : !apr_isspace(*text))) {
        if (quote && *text == '\\' && (text[1] == quote || text[1] == '\\')) {
            text++;
        }
        *out++ = *text++;
    }
    if (quote && *text) {
        text++;
    }
    *line = text;
    skip_space(line);
    return apr_pstrdup(p, word);
}

apr_status_t ap_timeout_parameter_parse(const char *text, apr_interval_time_t *timeout,
                                        const char *default_unit)
{
    apr_int64_t number, usec;
    char *unit;

    errno = 0;
    number = apr_strtoi64(text, &unit, 10);
    if (errno) {
        return errno;
    }
    if (*unit == '\0') {
        unit = (char *)default_unit;
    }
    /* httpd looks no further. */
    usec = strncasecmp(unit, "s", 1) == 0    ? APR_USEC_PER_SEC
           : strncasecmp(unit, "h", 1) == 0  ? APR_USEC_PER_SEC * 3600
           : strncasecmp(unit, "ms", 2) == 0 ? 1000
           : strncasecmp(unit, "mi", 2) == 0 ? APR_USEC_PER_SEC * 60
                                             : 0;
    if (usec == 0) {
        return APR_EGENERAL;
    }
    if (number < 0 || number > APR_INT64_MAX / usec) {
        return APR_ERANGE;
    }
    *timeout = number * usec;
    return APR_SUCCESS;
}

/* Of the statuses from 400 to 599, some have a text; all others are as 500. */
int ap_index_of_response(int status)
{
    return status >= 400 && status < 600 && status % 2 ? status : -1;
}

/* httpd's parser is not what is fuzzed here: "true" is the only expression. */
ap_expr_info_t *ap_expr_parse_cmd_mi(const cmd_parms *cmd, const char *text, unsigned flags,
                                     const char **error, ap_expr_lookup_fn_t *lookup,
                                     int module_index)
{
    *error = strcmp(text, "true") == 0 ? NULL : "syntax error";
    return *error ? NULL : apr_pcalloc(cmd->pool, sizeof(ap_expr_info_t));
}

/* No rehearsal of a start: what is logged once is logged. */
int ap_state_query(int query)
{
    return query == AP_SQ_RUN_MODE ? AP_SQ_RM_CONFIG_TEST : AP_SQ_MS_CREATE_CONFIG;
}

apr_status_t ap_mpm_query(int query, int *result)
{
    *result = 20;
    return APR_SUCCESS;
}

const char *ap_scan_http_token(const char *text)
{
    while (apr_isalnum(*text) || (*text && strchr("!#$%&'*+-.^_`|~", *text))) {
        text++;
    }
    return text;
}

int ap_allow_options(request_rec *r)
{
    return 0;
}

ap_filter_rec_t *ap_get_output_filter_handle(const char *name)
{
    return NULL;
}

apr_array_header_t *ap_hook_get_handler(void)
{
    return NULL;
}

void ap_log_error_(const char *file, int line, int module_index, int level, apr_status_t status,
                   const server_rec *s, const char *format, ...)
{
    char text[HUGE_STRING_LEN];
    va_list arguments;

    va_start(arguments, format);
    apr_vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
}

/* No other module is loaded, and no request led anywhere. */
module *ap_find_linked_module(const char *name)
{
    return NULL;
}

void *ap_lookup_provider(const char *group, const char *name, const char *version)
{
    return NULL;
}

char *ap_strcasestr(const char *text, const char *part)
{
    return strcasestr(text, part);
}

char *ap_os_escape_path(apr_pool_t *p, const char *path, int partial)
{
    return apr_pstrdup(p, path);
}
