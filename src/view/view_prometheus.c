/* view_prometheus.c - output for programs: Prometheus.
 *
 * Generated from the field tables. Text exposition format 0.0.4, base units.
 */
#include <httpd.h>
#include <sys/mman.h>
#include <apr_lib.h>
#include <apr_strings.h>
#include <http_protocol.h>
#include <util_filter.h>

#include "view_fields.h"
#include "view_outputs.h"
#include "view_text.h"

#define LABEL_BEGIN "{zone=\""

/* One zone, with its series' labels up to the quote that ends the name. */
typedef struct row_t {
    admission_facts_t facts;
    adm_durations_t wait, service;
    bool is_busy;
    const char *label;
} row_t;

/* Figures of all zones, needed because each metric lists all zones. Mapped
 * separately and unmapped immediately: httpd's allocators and malloc would
 * keep the memory. The labels follow the rows. */
typedef struct table_t {
    row_t *rows;
    int count;
    apr_size_t bytes;
} table_t;

/* Put a label; backslash, quote and newline are escaped. @return the byte after
 * its end. */
static char *put_label(char *end, const char *utf8)
{
    end = apr_cpystrn(end, LABEL_BEGIN, sizeof(LABEL_BEGIN));
    for (; *utf8; utf8++) {
        if (*utf8 == '\\' || *utf8 == '"' || *utf8 == '\n') {
            *end++ = '\\';
        }
        *end++ = *utf8;
        if (*utf8 == '\n') {
            end[-1] = 'n';
        }
    }
    *end++ = '"';
    *end++ = '\0';
    return end;
}

/* Sample all zones. @return false if there is not enough memory. */
static bool make_table(apr_pool_t *p, const admission_zone_t *first,
                       table_t *table)
{
    const admission_zone_t *zone;
    char *end;
    row_t *row;

    *table = (table_t){ .bytes = sizeof(row_t) };
    for (zone = first; zone; zone = zone->next) {
        table->count++;
        /* A byte becomes two in UTF-8 and two when it is escaped, never both. */
        table->bytes += sizeof(row_t) + sizeof(LABEL_BEGIN "\"")
                        + 2 * strlen(zone->name);
    }
    table->rows = mmap(NULL, table->bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (table->rows == MAP_FAILED) {
        return false;
    }
    end = (char *)&table->rows[table->count];
    for (zone = first, row = table->rows; zone; zone = zone->next, row++) {
        admission_view_t view;

        admission_fields_sample_zone(zone, &view, NULL);
        admission_fields_of_zone(&view, &row->facts);
        row->wait = view.stats.figures.wait;
        row->service = view.stats.figures.service;
        row->is_busy = view.is_busy;
        row->label = end;
        end = put_label(end, admission_text_utf8(p, zone->name));
    }
    return true;
}

/* Buffer of the output: a call of ap_rputs() per word takes several times as long. */
typedef struct out_t {
    request_rec *r;
    apr_bucket_brigade *bb;
} out_t;

/* Write strings. */
#define PUT(out, ...) \
    ap_fputstrs((out)->r->output_filters, (out)->bb, __VA_ARGS__, NULL)

/* Room for any number. */
typedef struct digits_t {
    char text[32];
} digits_t;

/* @return a number with that many digits (0 to 9) behind the point, in @a room:
 * 1500 with 3 digits is 1.500. Much faster than a format, and there are 100 per
 * zone. */
static const char *number(digits_t *room, apr_int64_t value, int digits)
{
    apr_uint64_t rest = value < 0 ? -(apr_uint64_t)value : (apr_uint64_t)value;
    char *start = room->text + sizeof(room->text) - 1;
    int written = 0;

    *start = '\0';
    while (rest > 0 || written <= digits) {
        if (digits > 0 && written == digits) {
            *--start = '.';
        }
        *--start = (char)('0' + rest % 10);
        rest /= 10;
        written++;
    }
    if (value < 0) {
        *--start = '-';
    }
    return start;
}

/* @return the metric of a field: "OldestWaitMs" is
 * "admission_oldest_wait_seconds". */
static const char *metric_name(apr_pool_t *p, const admission_field_t *field)
{
    const admission_unit_t *unit = admission_fields_unit(field->kind);
    const char *name = field->reason ? "Rejected" : field->name;
    const char *end = name + strlen(name) - strlen(unit->name);
    char *snake = apr_palloc(p, 2 * strlen(name) + 1), *to = snake;

    for (; name < end; name++) {
        if (apr_isupper(*name)) {
            *to++ = '_';
        }
        *to++ = apr_tolower(*name);
    }
    *to = '\0';
    return apr_pstrcat(p, "admission", snake, unit->metric, NULL);
}

static void write_head(out_t *out, const char *name, const char *type,
                       const char *help)
{
    PUT(out, "# HELP ", name, " ", help, "\n# TYPE ", name, " ", type, "\n");
}

static void write_field_head(out_t *out, const admission_field_t *field,
                             const char *name)
{
    write_head(out, name,
               field->kind == ADMISSION_COUNTER ? "counter" : "gauge",
               field->help);
}

/* @return the value of a fact in its base unit. */
static const char *value_of(digits_t *room, const admission_fact_t *fact)
{
    const admission_unit_t *unit = admission_fields_unit(fact->field->kind);
    int digits = unit->per > 1000 ? 6 : unit->per > 1 ? 3 : 0;
    int scale = digits == 6 ? 1000000 : digits == 3 ? 1000 : 1;

    return number(room, fact->value * unit->times * scale / unit->per, digits);
}

/* Write fact number @a n of all zones. */
static void write_zone_facts(out_t *out, const char *name, const table_t *table,
                             int n)
{
    const char *reason = table->rows->facts.fact[n].field->reason;
    const char *labels_end = reason ? apr_pstrcat(out->r->pool, ",reason=\"",
                                                  reason, "\"} ", NULL)
                                    : "} ";
    digits_t room = { "" };
    int i;

    for (i = 0; i < table->count && !out->r->connection->aborted; i++) {
        const row_t *row = &table->rows[i];
        const admission_fact_t *fact = &row->facts.fact[n];

        if (!row->is_busy && fact->group) {
            PUT(out, name, row->label, labels_end, value_of(&room, fact), "\n");
        }
    }
}

static void write_zones(out_t *out, const table_t *table)
{
    const char *last = "";
    int i;

    for (i = 0; table->count && i < table->rows->facts.count; i++) {
        const admission_field_t *field = table->rows->facts.fact[i].field;
        const char *name = metric_name(out->r->pool, field);

        /* One head per metric: its fields follow each other. */
        if (strcmp(name, last) != 0) {
            write_field_head(out, field, name);
            last = name;
        }
        write_zone_facts(out, name, table, i);
    }
}

static void write_server(out_t *out, const admission_facts_t *facts)
{
    digits_t room = { "" };
    int i;

    for (i = 0; i < facts->count; i++) {
        const char *name = metric_name(out->r->pool, facts->fact[i].field);

        write_field_head(out, facts->fact[i].field, name);
        PUT(out, name, " ", value_of(&room, &facts->fact[i]), "\n");
    }
}

static void write_histogram(out_t *out, const char *name, const char *label,
                            const adm_durations_t *durations)
{
    apr_uint64_t below = 0; /* cannot overflow; the memory can be corrupt */
    apr_int64_t all = (apr_int64_t)durations->count;
    digits_t le = { "" }, room = { "" };
    int i;

    for (i = 0; i < ADM_HISTOGRAM_BUCKETS - 1; i++) {
        below += durations->bucket[i];
        PUT(out, name, "_bucket", label, ",le=\"", number(&le, 1 << i, 3),
            "\"} ", number(&room, (apr_int64_t)below, 0), "\n");
    }
    PUT(out, name, "_bucket", label, ",le=\"+Inf\"} ", number(&room, all, 0),
        "\n");
    PUT(out, name, "_sum", label, "} ",
        number(&room, (apr_int64_t)durations->sum_usec, 6), "\n");
    PUT(out, name, "_count", label, "} ", number(&room, all, 0), "\n");
}

/* Write the histograms that have counted something: twenty series per zone. */
static void write_histograms(out_t *out, const char *name, const char *help,
                             const table_t *table, bool is_wait)
{
    int i;

    write_head(out, name, "histogram", help);
    for (i = 0; i < table->count && !out->r->connection->aborted; i++) {
        const row_t *row = &table->rows[i];
        const adm_durations_t *durations = is_wait ? &row->wait : &row->service;

        if (durations->count > 0) {
            write_histogram(out, name, row->label, durations);
        }
    }
}

int admission_prometheus_write(request_rec *r, const admission_zone_t *only)
{
    out_t out = { r, apr_brigade_create(r->pool, r->connection->bucket_alloc) };
    adm_server_stats_t server;
    admission_facts_t facts;
    table_t table;

    admission_fields_of_server(&server, &facts);
    if (!make_table(r->pool, admission_fields_zones(r->pool, only), &table)) {
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    ap_set_content_type(r, "text/plain; version=0.0.4; charset=utf-8");
    write_server(&out, &facts);
    write_zones(&out, &table);
    write_histograms(&out, "admission_wait_duration_seconds",
                     "Waits of requests that got a permit.", &table, true);
    write_histograms(&out, "admission_service_duration_seconds",
                     "Times that permits were held.", &table, false);
    ap_pass_brigade(r->output_filters, out.bb);
    munmap(table.rows, table.bytes);
    return OK;
}
