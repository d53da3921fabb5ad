/* mod_admission_export.c - the facts for programs: JSON and Prometheus.
 *
 * Both are made from the field tables. JSON: version 1; keys are only ever
 * added. Prometheus: text exposition format 0.0.4, base units.
 */
#include <httpd.h>
#include <apr_strings.h>
#include <http_protocol.h>
#include <jansson.h>

#include "mod_admission_fields.h"

#define JSON_VERSION 1

/* ---- text -------------------------------------------------------------------------- */

/* @return the length of the character of UTF-8 at @a text; 0: there is none. */
static int utf8_length(const unsigned char *text)
{
    unsigned first = text[0], second = text[1];
    int length = first < 0x80                     ? 1
                 : first >= 0xc2 && first <= 0xdf ? 2
                 : first >= 0xe0 && first <= 0xef ? 3
                 : first >= 0xf0 && first <= 0xf4 ? 4
                                                  : 0;
    int i;

    /* Longer than need be, half a pair, beyond the last character. */
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)
        || (first == 0xf0 && second < 0x90)
        || (first == 0xf4 && second > 0x8f)) {
        return 0;
    }
    for (i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}

static int is_utf8(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    int length = 1;

    while (*c && length) {
        length = utf8_length(c);
        c += length;
    }
    return length != 0;
}

const char *admission_utf8(apr_pool_t *p, const char *text)
{
    char *utf8, *end;

    if (is_utf8(text)) {
        return text;
    }
    utf8 = end = apr_palloc(p, 2 * strlen(text) + 1);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c >= 0x80) {
            *end++ = (char)(0xc0 | c >> 6);
            c = 0x80 | (c & 0x3f);
        }
        *end++ = (char)c;
    }
    *end = '\0';
    return utf8;
}

/* ---- JSON -------------------------------------------------------------------------- */

static void set_number(json_t *object, const char *key, apr_int64_t number)
{
    json_object_set_new(object, key, json_integer((json_int_t)number));
}

static json_t *json_of_durations(const adm_durations_t *durations)
{
    json_t *object = json_object();
    json_t *buckets = json_array();
    int i;

    set_number(object, "count", (apr_int64_t)durations->count);
    set_number(object, "sumMs",
               (apr_int64_t)(durations->sum_usec / ADM_USEC_PER_MSEC));
    for (i = 0; i < ADM_HISTOGRAM_BUCKETS; i++) {
        json_array_append_new(buckets,
                              json_integer((json_int_t)durations->bucket[i]));
    }
    /* Bucket n counts what took less than 2^n ms, the last all others. */
    json_object_set_new(object, "below2PowNMs", buckets);
    return object;
}

static json_t *json_of_seconds(const uint32_t *numbers)
{
    json_t *array = json_array();
    int i;

    for (i = 0; i < ADM_HISTORY_SECONDS; i++) {
        json_array_append_new(array, json_integer((json_int_t)numbers[i]));
    }
    return array;
}

static json_t *json_of_history(const admission_zone_t *zone)
{
    json_t *object = json_object();
    adm_history_t history;

    if (adm_zone_history(admission_child(), zone->handle, adm_now(), &history)
        == APR_SUCCESS) {
        json_object_set_new(object, "active", json_of_seconds(history.active));
        json_object_set_new(object, "queued", json_of_seconds(history.queued));
    }
    return object;
}

static json_t *json_of_zone(apr_pool_t *p, const admission_view_t *view)
{
    json_t *object = json_object();
    int i;

    json_object_set_new(object, "name",
                        json_string(admission_utf8(p, view->zone->name)));
    if (view->is_busy) {
        json_object_set_new(object, "busy", json_true());
        return object;
    }
    for (i = 0; i < admission_zone_fields_count; i++) {
        set_number(object, admission_zone_fields[i].json,
                   admission_zone_fields[i].of_zone(view));
    }
    json_object_set_new(object, "wait", json_of_durations(&view->stats.wait));
    json_object_set_new(object, "service",
                        json_of_durations(&view->stats.service));
    json_object_set_new(object, "history", json_of_history(view->zone));
    return object;
}

static int write_text(const char *text, size_t length, void *r)
{
    return ap_rwrite(text, (int)length, r) < 0 ? -1 : 0;
}

int admission_write_json(request_rec *r)
{
    adm_server_stats_t stats;
    const apr_array_header_t *views = admission_look(r->pool, &stats);
    json_t *root = json_object();
    json_t *server = json_object();
    json_t *array = json_array();
    int i;

    for (i = 0; i < admission_server_fields_count; i++) {
        set_number(server, admission_server_fields[i].json,
                   admission_server_fields[i].of_server(&stats));
    }
    for (i = 0; i < views->nelts; i++) {
        json_array_append_new(
            array,
            json_of_zone(r->pool, &APR_ARRAY_IDX(views, i, admission_view_t)));
    }
    set_number(root, "version", JSON_VERSION);
    json_object_set_new(root, "server", server);
    json_object_set_new(root, "zones", array);
    ap_set_content_type(r, "application/json");
    json_dump_callback(root, write_text, r, JSON_COMPACT);
    json_decref(root);
    return OK;
}

/* ---- Prometheus ---------------------------------------------------------------------- */

/* Of a label: backslash, quote and newline are escaped. */
static const char *escape_label(apr_pool_t *p, const char *name)
{
    const char *text = admission_utf8(p, name);
    char *escaped = apr_palloc(p, 2 * strlen(text) + 1);
    char *end = escaped;

    for (; *text; text++) {
        if (*text == '\\' || *text == '"' || *text == '\n') {
            *end++ = '\\';
        }
        *end++ = *text == '\n' ? 'n' : *text;
    }
    *end = '\0';
    return escaped;
}

static const char *metric_name(apr_pool_t *p, const admission_field_t *field)
{
    return apr_pstrcat(p, "admission_", field->metric,
                       field->kind == ADMISSION_COUNTER      ? "_total"
                       : field->kind == ADMISSION_GAUGE_MSEC ? "_seconds"
                                                             : "",
                       NULL);
}

static void write_head(request_rec *r, const char *name, const char *type,
                       const char *help)
{
    ap_rvputs(r, "# HELP ", name, " ", help, "\n# TYPE ", name, " ", type, "\n",
              NULL);
}

static void write_value(request_rec *r, const admission_field_t *field,
                        apr_int64_t value)
{
    if (field->kind == ADMISSION_GAUGE_MSEC) {
        ap_rprintf(r, " %.3f\n", (double)value / 1000);
    }
    else {
        ap_rprintf(r, " %" APR_INT64_T_FMT "\n", value);
    }
}

static void write_field_head(request_rec *r, const admission_field_t *field,
                             const char *name)
{
    write_head(r, name, field->kind == ADMISSION_COUNTER ? "counter" : "gauge",
               field->help);
}

static void write_zone_field(request_rec *r, const admission_field_t *field,
                             const apr_array_header_t *views)
{
    const char *name = metric_name(r->pool, field);
    int i;

    for (i = 0; i < views->nelts; i++) {
        const admission_view_t *view = &APR_ARRAY_IDX(views, i,
                                                      admission_view_t);

        if (view->is_busy) {
            continue;
        }
        ap_rvputs(r, name, "{zone=\"", escape_label(r->pool, view->zone->name),
                  "\"", NULL);
        if (field->reason) {
            ap_rvputs(r, ",reason=\"", field->reason, "\"", NULL);
        }
        ap_rputs("}", r);
        write_value(r, field, field->of_zone(view));
    }
}

static void write_zone_fields(request_rec *r, const apr_array_header_t *views)
{
    const char *last_metric = "";
    int i;

    for (i = 0; i < admission_zone_fields_count; i++) {
        const admission_field_t *field = &admission_zone_fields[i];

        /* Fields of one metric follow each other. */
        if (strcmp(field->metric, last_metric) != 0) {
            write_field_head(r, field, metric_name(r->pool, field));
            last_metric = field->metric;
        }
        write_zone_field(r, field, views);
    }
}

static void write_histogram(request_rec *r, const char *name, const char *zone,
                            const adm_durations_t *durations)
{
    apr_uint64_t below = 0;
    int i;

    for (i = 0; i < ADM_HISTOGRAM_BUCKETS - 1; i++) {
        below += durations->bucket[i];
        ap_rprintf(r,
                   "%s_bucket{zone=\"%s\",le=\"%.3f\"} %" APR_UINT64_T_FMT "\n",
                   name, zone, (double)(1 << i) / 1000, below);
    }
    ap_rprintf(r,
               "%s_bucket{zone=\"%s\",le=\"+Inf\"} %" APR_UINT64_T_FMT "\n"
               "%s_sum{zone=\"%s\"} %.6f\n"
               "%s_count{zone=\"%s\"} %" APR_UINT64_T_FMT "\n",
               name, zone, durations->count, name, zone,
               (double)durations->sum_usec / ADM_USEC_PER_SEC, name, zone,
               durations->count);
}

static void write_histograms(request_rec *r, const char *name, const char *help,
                             const apr_array_header_t *views, int is_wait)
{
    int i;

    write_head(r, name, "histogram", help);
    for (i = 0; i < views->nelts; i++) {
        const admission_view_t *view = &APR_ARRAY_IDX(views, i,
                                                      admission_view_t);

        if (view->is_busy) {
            continue;
        }
        write_histogram(r, name, escape_label(r->pool, view->zone->name),
                        is_wait ? &view->stats.wait : &view->stats.service);
    }
}

int admission_write_metrics(request_rec *r)
{
    adm_server_stats_t stats;
    const apr_array_header_t *views = admission_look(r->pool, &stats);
    int i;

    ap_set_content_type(r, "text/plain; version=0.0.4; charset=utf-8");
    for (i = 0; i < admission_server_fields_count; i++) {
        const admission_field_t *field = &admission_server_fields[i];
        const char *name = metric_name(r->pool, field);

        write_field_head(r, field, name);
        ap_rputs(name, r);
        write_value(r, field, field->of_server(&stats));
    }
    write_zone_fields(r, views);
    write_histograms(r, "admission_wait_duration_seconds",
                     "Waits of requests that got a permit.", views, 1);
    write_histograms(r, "admission_service_duration_seconds",
                     "Times that permits were held.", views, 0);
    return OK;
}
