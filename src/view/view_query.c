/* view_query.c - reads the query string of the status page. */
#include <ap_provider.h>
#include <apr_strings.h>

#include "view_query.h"

static const char *set_value(apr_pool_t *p,
                             const admission_parameter_t *parameter,
                             const char *value)
{
    char *text = apr_pstrdup(p, value);

    if (parameter->error
        && (*parameter->value || ap_unescape_urlencoded(text) != OK)) {
        return parameter->error;
    }
    *parameter->value = text;
    return NULL;
}

const char *admission_query_read(apr_pool_t *p, const char *args,
                                 const admission_parameter_t *parameters,
                                 const char **output)
{
    const char *wrong = NULL;

    *output = "";
    while (*args && !wrong) {
        const char *value = ap_getword(p, &args, '&');
        const char *key = ap_getword(p, &value, '=');
        const admission_parameter_t *known = parameters;

        while (known->key && strcmp(known->key, key) != 0) {
            known++;
        }
        if (known->key) {
            wrong = set_value(p, known, value);
        }
        else if (**output) {
            wrong =
                "A response has one format: json, prometheus, ready, or the page.";
        }
        else {
            *output = key;
        }
    }
    return wrong;
}

const admission_output_t *admission_query_output(apr_pool_t *p,
                                                 const char *args)
{
    const admission_output_t *output = NULL;

    while (*args && !output) {
        const char *pair = ap_getword(p, &args, '&');

        output = ap_lookup_provider(ADMISSION_OUTPUT_GROUP,
                                    ap_getword(p, &pair, '='), "0");
    }
    return output;
}
