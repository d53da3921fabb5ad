/* mod_admission_prometheus.c - the facts for programs: Prometheus.
 *
 * Made from the field tables. Text exposition format 0.0.4, base units.
 */
#include <httpd.h>
#include <sys/mman.h>
#include <apr_strings.h>
#include <http_protocol.h>

#include "view/mod_admission_fields.h"
#include "view/mod_admission_prometheus.h"
#include "view/mod_admission_text.h"

/* The figures of all zones: metric after metric is written, and each one has
 * all zones. Pages of their own, given back at once: neither httpd's allocators
 * nor malloc keep them for later. */
typedef struct table_t {
    const apr_array_header_t *zones;
    admission_view_t *views; /* as many */
    size_t bytes;
    char *label; /* of one zone, escaped; room for the longest */
} table_t;

/* @return false: there is no memory for it. */
static bool make_table(apr_pool_t *p, const apr_array_header_t *zones,
                       table_t *table)
{
    size_t longest = 0;
    int i;

    table->zones = zones;
    table->bytes = ((size_t)zones->nelts + 1) * sizeof(*table->views);
    table->views = mmap(NULL, table->bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (table->views == MAP_FAILED) {
        return false;
    }
    for (i = 0; i < zones->nelts; i++) {
        const admission_zone_t *zone = APR_ARRAY_IDX(zones, i,
                                                     const admission_zone_t *);
        size_t length = strlen(zone->name);

        admission_fields_look_at(zone, &table->views[i], NULL);
        longest = length > longest ? length : longest;
    }
    /* A byte becomes two in UTF-8 and two when it is escaped, never both. */
    table->label = apr_palloc(p, 2 * longest + 1);
    return true;
}

/* Of a label: backslash, quote and newline are escaped. */
static const char *label_of(const table_t *table, int number)
{
    const admission_zone_t *zone = APR_ARRAY_IDX(table->zones, number,
                                                 const admission_zone_t *);
    const char *text = zone->name;
    bool is_right = admission_text_is_utf8(text);
    char *end = table->label;

    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '\\' || c == '"' || c == '\n') {
            *end++ = '\\';
            c = c == '\n' ? 'n' : c;
        }
        if (c >= 0x80 && !is_right) {
            end = admission_text_put_latin1(end, c);
        }
        else {
            *end++ = (char)c;
        }
    }
    *end = '\0';
    return table->label;
}

static const char *metric_name(apr_pool_t *p, const admission_field_t *field)
{
    return apr_pstrcat(p, "admission_", field->metric,
                       admission_fields_unit(field->kind)->metric, NULL);
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
    const admission_unit_t *unit = admission_fields_unit(field->kind);

    value *= unit->times;
    if (unit->per > 1) {
        ap_rprintf(r, " %.3f\n", (double)value / unit->per);
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
                             const char *name, const table_t *table)
{
    int i;

    for (i = 0; i < table->zones->nelts && !r->connection->aborted; i++) {
        if (table->views[i].is_busy) {
            continue;
        }
        ap_rvputs(r, name, "{zone=\"", label_of(table, i), "\"", NULL);
        if (field->reason) {
            ap_rvputs(r, ",reason=\"", field->reason, "\"", NULL);
        }
        ap_rputs("}", r);
        write_value(r, field, field->of_zone(&table->views[i]));
    }
}

static void write_zone_fields(request_rec *r, const table_t *table)
{
    const char *last_metric = "";
    int i;

    for (i = 0; i < admission_zone_fields_count; i++) {
        const admission_field_t *field = &admission_zone_fields[i];
        const char *name = metric_name(r->pool, field);

        /* Fields of one metric follow each other. */
        if (strcmp(field->metric, last_metric) != 0) {
            write_field_head(r, field, name);
            last_metric = field->metric;
        }
        write_zone_field(r, field, name, table);
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
                   "%s_bucket{zone=\"%s\",le=\"%d.%03d\"} %" APR_UINT64_T_FMT
                   "\n",
                   name, zone, (1 << i) / 1000, (1 << i) % 1000, below);
    }
    ap_rprintf(r,
               "%s_bucket{zone=\"%s\",le=\"+Inf\"} %" APR_UINT64_T_FMT "\n"
               "%s_sum{zone=\"%s\"} %.6f\n"
               "%s_count{zone=\"%s\"} %" APR_UINT64_T_FMT "\n",
               name, zone, durations->count, name, zone,
               (double)durations->sum_usec / ADM_USEC_PER_SEC, name, zone,
               durations->count);
}

/* Forty series for a zone: only where there is something in them. */
static void write_histograms(request_rec *r, const char *name, const char *help,
                             const table_t *table, bool is_wait)
{
    int i;

    write_head(r, name, "histogram", help);
    for (i = 0; i < table->zones->nelts && !r->connection->aborted; i++) {
        const adm_figures_t *figures = &table->views[i].stats.figures;

        if (figures->wait.count > 0 || figures->service.count > 0) {
            write_histogram(r, name, label_of(table, i),
                            is_wait ? &figures->wait : &figures->service);
        }
    }
}

int admission_prometheus_write(request_rec *r, const admission_zone_t *only)
{
    adm_server_stats_t stats;
    table_t table;
    int i;

    admission_fields_look_at_server(&stats);
    if (!make_table(r->pool, admission_fields_zones(r->pool, only), &table)) {
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    ap_set_content_type(r, "text/plain; version=0.0.4; charset=utf-8");
    for (i = 0; i < admission_server_fields_count; i++) {
        const admission_field_t *field = &admission_server_fields[i];
        const char *name = metric_name(r->pool, field);

        write_field_head(r, field, name);
        ap_rputs(name, r);
        write_value(r, field, field->of_server(&stats));
    }
    write_zone_fields(r, &table);
    write_histograms(r, "admission_wait_duration_seconds",
                     "Waits of requests that got a permit.", &table, 1);
    write_histograms(r, "admission_service_duration_seconds",
                     "Times that permits were held.", &table, 0);
    munmap(table.views, table.bytes);
    return OK;
}
