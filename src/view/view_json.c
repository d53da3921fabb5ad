/* view_json.c - output for programs: JSON.
 *
 * Generated from the field tables. Keys are only ever added.
 */
#include <httpd.h>
#include <apr_lib.h>
#include <http_protocol.h>

#include "module/part.h"
#include "module/process.h"
#include "view_fields.h"
#include "view_outputs.h"
#include "view_text.h"

#define JSON_VERSION 2

static bool is_plain(char c)
{
    /* Escapes '<' as well, so that JSON pasted into a page opens no element. */
    return (unsigned char)c >= ' ' && c != '"' && c != '\\' && c != '<';
}

void admission_json_string(request_rec *r, const char *utf8)
{
    ap_rputc('"', r);
    for (;; utf8++) {
        const char *plain = utf8;

        while (is_plain(*utf8)) {
            utf8++;
        }
        ap_rwrite(plain, (int)(utf8 - plain), r);
        if (*utf8 == '\0') {
            break;
        }
        ap_rprintf(r, "\\u%04x", (unsigned char)*utf8);
    }
    ap_rputc('"', r);
}

/* Write a number for each second. */
static void write_seconds(request_rec *r, const char *key,
                          const uint32_t *numbers)
{
    int i;

    ap_rvputs(r, "\"", key, "\":[", NULL);
    for (i = 0; i < ADM_HISTORY_SECONDS; i++) {
        ap_rprintf(r, i ? ",%u" : "%u", numbers[i]);
    }
    ap_rputs("]", r);
}

static void write_durations(request_rec *r, const char *key,
                            const adm_durations_t *durations)
{
    int i;

    ap_rprintf(r,
               ",\"%s\":{\"count\":%" APR_UINT64_T_FMT
               ",\"sumMs\":%" APR_UINT64_T_FMT ",\"below2PowNMs\":[",
               key, durations->count,
               durations->sum_usec / (apr_uint64_t)ADM_USEC_PER_MSEC);
    /* Bucket n counts durations below 2^n ms, the last bucket all others. */
    for (i = 0; i < ADM_HISTOGRAM_BUCKETS; i++) {
        ap_rprintf(r, i ? ",%" APR_UINT64_T_FMT : "%" APR_UINT64_T_FMT,
                   durations->bucket[i]);
    }
    ap_rputs("]}", r);
}

static void write_history(request_rec *r, const adm_history_t *history)
{
    ap_rputs(",\"history\":{", r);
    write_seconds(r, "active", history->active);
    ap_rputs(",", r);
    write_seconds(r, "queued", history->queued);
    ap_rputs(",", r);
    write_seconds(r, "limit", history->limit);
    ap_rputs("}", r);
}

/* Write members of an object. @param comma  "" before its first member, else "," */
static void write_facts(request_rec *r, const char *comma,
                        const admission_facts_t *facts)
{
    int i;

    for (i = 0; i < facts->count; i++) {
        const admission_fact_t *fact = &facts->fact[i];
        const char *quote = fact->word ? "\"" : "";

        ap_rprintf(r, "%s\"%c%s\":%s", comma, apr_tolower(*fact->field->name),
                   fact->field->name + 1, quote);
        admission_fields_write(r, fact);
        ap_rputs(quote, r);
        comma = ",";
    }
}

static void write_text(request_rec *r, apr_pool_t *p, const char *key,
                       const char *text)
{
    ap_rvputs(r, ",\"", key, "\":", NULL);
    admission_json_string(r, admission_text_utf8(p, text));
}

static void write_request(request_rec *r, apr_pool_t *p,
                          const adm_present_t *present)
{
    adm_proc_usage_t usage;

    ap_rprintf(r, "{\"state\":\"%s\",\"ageMs\":%" APR_INT64_T_FMT,
               present->runs ? "running" : "waiting",
               (apr_int64_t)(present->age_usec / ADM_USEC_PER_MSEC));
    if (present->is_known) {
        write_text(r, p, "client", present->who.client);
        write_text(r, p, "host", present->who.host);
        write_text(r, p, "method", present->who.method);
        write_text(r, p, "uri", present->who.uri);
    }
    if (present->has_asked) {
        write_text(r, p, "key",
                   admission_text_utf8_cut(p, present->key, ADM_KEY_NAME));
        ap_rprintf(r, ",\"priority\":\"%s\",\"cost\":%u",
                   adm_priority_name(present->priority), present->cost);
    }
    if (present->program) {
        ap_rprintf(r, ",\"pid\":%d", (int)present->program);
    }
    if (adm_proc_current_usage("", present->program, present->program_seen,
                               &usage)) {
        ap_rprintf(r,
                   ",\"cpuMs\":%" APR_INT64_T_FMT
                   ",\"rssKb\":%" APR_UINT64_T_FMT,
                   (apr_int64_t)(usage.processor_usec / ADM_USEC_PER_MSEC),
                   (apr_uint64_t)usage.size_kb);
    }
    ap_rputs("}", r);
}

/* Write a few requests at a time, to use little memory and hold the lock briefly. */
static void write_requests(request_rec *r, apr_pool_t *p,
                           const admission_zone_t *zone)
{
    adm_present_t *present = apr_palloc(p, ADM_PRESENT_MAX * sizeof(*present));
    uint32_t cursor = 0, count, i;
    const char *comma = "";
    apr_pool_t *some; /* of the requests of one call */

    ap_rputs(",\"requests\":[", r);
    apr_pool_create(&some, p);
    do {
        apr_pool_clear(some);
        if (adm_who_list(admission_process_child(), zone->handle, adm_now(),
                         &cursor, present, &count)
            != APR_SUCCESS) {
            break;
        }
        for (i = 0; i < count; i++) {
            ap_rputs(comma, r);
            write_request(r, some, &present[i]);
            comma = ",";
        }
    } while (count && !r->connection->aborted);
    apr_pool_destroy(some);
    ap_rputs("]", r);
}

/* Write the keys with the most permits and waiting requests. */
static void write_keys(request_rec *r, apr_pool_t *p,
                       const admission_zone_t *zone)
{
    adm_key_stats_t keys[ADM_KEYS_SHOWN];
    uint32_t count, i;

    if (!zone->uses_flows) {
        return;
    }
    count = adm_view_keys(admission_process_child(), zone->handle, adm_now(),
                          keys);
    ap_rputs(",\"keys\":[", r);
    for (i = 0; i < count; i++) {
        ap_rputs(i ? ",{\"name\":" : "{\"name\":", r);
        admission_json_string(r, admission_text_utf8_cut(p, keys[i].name,
                                                         ADM_KEY_NAME));
        ap_rprintf(r, ",\"held\":%u,\"waiting\":%u}", keys[i].held,
                   keys[i].waiting);
    }
    ap_rputs("]", r);
}

static void write_parts(request_rec *r, apr_pool_t *p,
                        const admission_zone_t *zone)
{
    int part;

    for (part = 0; part < ADMISSION_PARTS_NUMBER; part++) {
        if (admission_parts[part]->write_json) {
            admission_parts[part]->write_json(r, p, zone);
        }
    }
}

static void write_zone(request_rec *r, apr_pool_t *p,
                       const admission_zone_t *zone, admission_json_with_t with)
{
    admission_view_t view;
    adm_history_t history = { 0 };
    admission_facts_t facts;

    admission_fields_sample_zone(zone, &view,
                                 with == ADMISSION_WITH_HISTORY ? &history
                                                                : NULL);
    ap_rputs("{\"name\":", r);
    admission_json_string(r, admission_text_utf8(p, zone->name));
    if (view.is_busy) {
        ap_rputs(",\"busy\":true}", r);
        return;
    }
    admission_fields_of_zone(&view, &facts);
    write_facts(r, ",", &facts);
    write_durations(r, "wait", &view.stats.figures.wait);
    write_durations(r, "service", &view.stats.figures.service);
    write_keys(r, p, zone);
    write_parts(r, p, zone);
    if (with == ADMISSION_WITH_HISTORY) {
        write_history(r, &history);
    }
    else if (with == ADMISSION_WITH_REQUESTS) {
        write_requests(r, p, zone);
    }
    ap_rputs("}", r);
}

int admission_json_write(request_rec *r, const admission_zone_t *only,
                         admission_json_with_t with)
{
    const admission_zone_t *first = admission_fields_zones(r->pool, only);
    const admission_zone_t *zone;
    adm_server_stats_t server;
    admission_facts_t facts;
    apr_pool_t *p; /* of one zone */

    admission_fields_of_server(&server, &facts);
    ap_set_content_type(r, "application/json");
    ap_rprintf(r, "{\"version\":%d,\"server\":{", JSON_VERSION);
    write_facts(r, "", &facts);
    ap_rputs("},\"zones\":[", r);
    apr_pool_create(&p, r->pool);
    for (zone = first; zone && !r->connection->aborted; zone = zone->next) {
        apr_pool_clear(p);
        ap_rputs(zone == first ? "" : ",", r);
        write_zone(r, p, zone, with);
    }
    apr_pool_destroy(p);
    ap_rputs("]}", r);
    return OK;
}
