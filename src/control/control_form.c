/* control_form.c - read the form that overrides limits. */
#include <apr_strings.h>
#include <http_protocol.h>
#include <util_script.h>

#include "module/conf.h"
#include "module/parse.h"
#include "control_form.h"
#include "view/view_fields.h"
#include "view/view_text.h"

/* A zone name is at most as long as a line of the configuration. */
#define FORM_BYTES 65536
#define FORM_PAIRS 8

/* @return the value as a string; NULL if it cannot be read or contains a
 * NUL. */
static const char *value_of(apr_pool_t *p, const ap_form_pair_t *pair)
{
    apr_off_t length;
    apr_size_t size;
    char *value;

    if (apr_brigade_length(pair->value, 1, &length) != APR_SUCCESS) {
        return NULL;
    }
    size = (apr_size_t)length;
    value = apr_palloc(p, size + 1);
    if (apr_brigade_flatten(pair->value, value, &size) != APR_SUCCESS) {
        return NULL;
    }
    value[size] = '\0';
    return strlen(value) == size ? value : NULL;
}

/* Parse the value of `limit` or `queue`. @return an error message; NULL:
 * none. */
static const char *read_number(apr_pool_t *p, const char *key,
                               const char *value, int min, int max,
                               uint32_t *number)
{
    int parsed = admission_parse_number(value, min, max);

    if (*number != ADM_OVERRIDE_KEEP) {
        return apr_psprintf(p, "%s is given twice.", key);
    }
    if (strcmp(value, "config") == 0) {
        *number = ADM_OVERRIDE_NONE;
        return NULL;
    }
    if (parsed < 0) {
        return apr_psprintf(
            p, "%s: '%s' is not a number from %d to %d or 'config'%s.", key,
            admission_text_utf8(p, value), min, max,
            strcmp(value, "0") == 0 ? "; to stop requests, use mode=pause"
                                    : "");
    }
    *number = (uint32_t)parsed;
    return NULL;
}

static const char *read_mode(apr_pool_t *p, const char *value, uint32_t *mode)
{
    uint32_t i;

    if (*mode != ADM_OVERRIDE_KEEP) {
        return "mode is given twice.";
    }
    if (strcmp(value, "config") == 0) {
        value = adm_mode_name(ADM_MODE_OPEN);
    }
    for (i = 0; i < ADM_MODES; i++) {
        if (strcmp(value, adm_mode_name((adm_mode_t)i)) == 0) {
            *mode = i;
            return NULL;
        }
    }
    return apr_psprintf(p, "mode: '%s' is not open, pause, drain or config.",
                        admission_text_utf8(p, value));
}

static const char *read_pair(apr_pool_t *p, const char *key, const char *value,
                             admission_form_t *form)
{
    if (!value) {
        return apr_psprintf(p, "%s: the value cannot be read.",
                            admission_text_utf8(p, key));
    }
    if (strcmp(key, "zone") == 0) {
        if (form->zone) {
            return "zone is given twice: a request changes one zone.";
        }
        form->zone = value;
        return NULL;
    }
    if (strcmp(key, "limit") == 0) {
        return read_number(p, key, value, 1, ADMISSION_LIMIT_MAX,
                           &form->wanted.limit);
    }
    if (strcmp(key, "queue") == 0) {
        return read_number(p, key, value, 0, ADMISSION_QUEUE_MAX,
                           &form->wanted.queue_length);
    }
    if (strcmp(key, "mode") == 0) {
        return read_mode(p, value, &form->wanted.mode);
    }
    return apr_psprintf(
        p, "unknown parameter '%s': use zone, limit, queue or mode.",
        admission_text_utf8(p, key));
}

static bool changes_nothing(const adm_override_t *wanted)
{
    return wanted->limit == ADM_OVERRIDE_KEEP
           && wanted->queue_length == ADM_OVERRIDE_KEEP
           && wanted->mode == ADM_OVERRIDE_KEEP;
}

int admission_form_read(request_rec *r, admission_form_t *form,
                        const char **wrong)
{
    apr_array_header_t *pairs = NULL;
    int status = ap_parse_form_data(r, NULL, &pairs, FORM_PAIRS, FORM_BYTES);
    int i;

    *form = (admission_form_t){
        .wanted = { ADM_OVERRIDE_KEEP, ADM_OVERRIDE_KEEP, ADM_OVERRIDE_KEEP }
    };
    *wrong = NULL;
    if (status != OK) {
        return status;
    }
    for (i = 0; pairs && i < pairs->nelts && !*wrong; i++) {
        const ap_form_pair_t *pair = &APR_ARRAY_IDX(pairs, i, ap_form_pair_t);

        *wrong = read_pair(r->pool, pair->name, value_of(r->pool, pair), form);
    }
    if (!*wrong && !form->zone) {
        *wrong = "zone=NAME is missing. Send a form of the type "
                 "application/x-www-form-urlencoded.";
    }
    if (!*wrong && changes_nothing(&form->wanted)) {
        *wrong = "There is nothing to change: add limit=, queue= or mode=.";
    }
    return OK;
}
