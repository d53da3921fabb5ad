/* mod_admission_page.c - a live page for people.
 *
 * Everything is drawn here, so that the page is the same with and without
 * script; the script only fetches it again and swaps what has changed. Style
 * and script are answers of this same handler: the page loads nothing from
 * elsewhere and needs no exception from a Content-Security-Policy of 'self'.
 */
#include <httpd.h>
#include <apr_strings.h>
#include <http_protocol.h>

#include "server/mod_admission_process.h"
#include "view/mod_admission_fields.h"
#include "view/mod_admission_page.h"

/* Of more zones than this, those where something happens are shown whole, up
 * to as many; the others have a line each, up to so many. */
#define WHOLE_ZONES_MAX 24

#define LINES_MAX 2000

static const char style[] =
#include "page_css.inc"
    ;

static const char script[] =
#include "page_js.inc"
    ;

static int write_constant(request_rec *r, const char *type, const char *text)
{
    ap_set_content_type(r, type);
    apr_table_setn(r->headers_out, "Cache-Control", "max-age=3600");
    ap_rputs(text, r);
    return OK;
}

/* For how many seconds up to now the queue was full. */
static int seconds_full(const adm_history_t *history, uint32_t queue_length)
{
    int i = ADM_HISTORY_SECONDS;

    while (queue_length > 0 && i > 0
           && history->queued[i - 1] >= queue_length) {
        i--;
    }
    return ADM_HISTORY_SECONDS - i;
}

static apr_uint64_t rejected_within(const adm_history_t *history, int seconds)
{
    int first = ADM_HISTORY_SECONDS - 1 - seconds;

    return history->rejected[ADM_HISTORY_SECONDS - 1]
           - history->rejected[first > 0 ? first : 0];
}

static void say(request_rec *r, const char *kind, const char *text)
{
    ap_rvputs(r, "<p class=\"say ", kind, "\">", text, "</p>\n", NULL);
}

static bool was_used(const adm_zone_stats_t *stats)
{
    int i;

    for (i = 0; i < ADM_OUTCOMES; i++) {
        if (stats->figures.outcomes[i]) {
            return true;
        }
    }
    return stats->active || stats->queued;
}

static void say_what_is_wrong(request_rec *r, apr_pool_t *p,
                              const admission_view_t *view,
                              const adm_history_t *history)
{
    const adm_zone_stats_t *stats = &view->stats;
    int full = seconds_full(history, stats->queue_length);
    apr_uint64_t rejected = rejected_within(history, 60);

    if (view->zone->dry_run) {
        say(r, "ok",
            "Dry run: everybody runs at once, rejections are counted "
            "only.");
    }
    if (full > 0) {
        say(r, "bad",
            apr_psprintf(p,
                         "Queue full for %d s: %" APR_UINT64_T_FMT " rejected. "
                         "Raise MaxConcurrent only if memory allows.",
                         full, rejected_within(history, full)));
    }
    else if (rejected > 0) {
        say(r, "bad",
            apr_psprintf(p,
                         "%" APR_UINT64_T_FMT " rejected in the last minute.",
                         rejected));
    }
    else if (stats->queued > 0) {
        say(r, "",
            apr_psprintf(p,
                         "%u wait, the first for %" APR_INT64_T_FMT
                         " ms; nobody is rejected.",
                         stats->queued,
                         (apr_int64_t)(stats->oldest_wait_usec
                                       / ADM_USEC_PER_MSEC)));
    }
    else if (!was_used(stats)) {
        say(r, "", "Never used: no request of this zone has come.");
    }
    else {
        say(r, "ok", "Nobody waits.");
    }
}

/* Why a limit that finds itself is what it is. */
static void say_why(request_rec *r, apr_pool_t *p, const admission_view_t *view)
{
    char sentence[ADM_AUTO_SENTENCE];

    if (view->stats.is_auto) {
        adm_auto_sentence(&view->stats.found, view->stats.limit, sentence);
        say(r, "",
            apr_psprintf(p, "Limit %u, found (%s): %s.", view->stats.limit,
                         adm_auto_reason(&view->stats.found), sentence));
    }
}

/* The frame that the script draws in: a second a unit. */
static void frame_history(request_rec *r)
{
    ap_rputs(
        "<div class=\"history\"><p class=\"key\"><span><b class=\"a\">active"
        "</b>, <b class=\"q\">queued</b>, dashed: limit</span>"
        "<span class=\"top\"></span></p>\n"
        "<svg class=\"chart\" viewBox=\"0 -2 600 104\" "
        "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"active "
        "and queued over the last ten minutes\"></svg>\n"
        "<p class=\"key\"><span>10 min ago</span><span>now</span></p></div>\n",
        r);
}

static const char *name_bucket(apr_pool_t *p, int bucket)
{
    bool is_last = bucket == ADM_HISTOGRAM_BUCKETS - 1;
    int msec = 1 << (is_last ? bucket - 1 : bucket);

    return apr_psprintf(p, "%s %d %s", is_last ? "from" : "below",
                        msec < 1000 ? msec : msec / 1000,
                        msec < 1000 ? "ms" : "s");
}

static void draw_bar(request_rec *r, apr_pool_t *p, int bucket, uint64_t count,
                     uint64_t top)
{
    ap_rprintf(
        r,
        "<tr><th>%s</th><td><svg aria-hidden=\"true\"><rect "
        "width=\"%.1f%%\" height=\"100%%\"/></svg></td><td>%" APR_UINT64_T_FMT
        "</td></tr>\n",
        name_bucket(p, bucket), 100 * (double)count / (double)top, count);
}

/* From the first to the last that is not empty. */
static void draw_histogram(request_rec *r, apr_pool_t *p, const char *title,
                           const adm_durations_t *durations)
{
    int first = ADM_HISTOGRAM_BUCKETS, last = -1, i;
    uint64_t top = 1;

    for (i = 0; i < ADM_HISTOGRAM_BUCKETS; i++) {
        if (durations->bucket[i]) {
            first = i < first ? i : first;
            last = i;
        }
        top = durations->bucket[i] > top ? durations->bucket[i] : top;
    }
    ap_rprintf(r, "<table><caption>%s: %" APR_UINT64_T_FMT "</caption>\n",
               title, durations->count);
    for (i = first; i <= last; i++) {
        draw_bar(r, p, i, durations->bucket[i], top);
    }
    ap_rputs("</table>\n", r);
}

static void write_fact(request_rec *r, const admission_field_t *field,
                       apr_int64_t value)
{
    ap_rvputs(r, "<div><dt>", field->name, "</dt><dd>", NULL);
    admission_fields_write(r, field, value);
    ap_rputs("</dd></div>\n", r);
}

static void write_whole(request_rec *r, apr_pool_t *p, int number,
                        const admission_view_t *view,
                        const adm_history_t *history)
{
    int i;

    ap_rvputs(r, "<section><h2>",
              ap_escape_html(p, admission_fields_utf8(p, view->zone->name)),
              "</h2>\n", NULL);
    if (view->is_busy) {
        say(r, "bad", "Busy: a process that does not run holds its lock.");
        ap_rputs("</section>\n", r);
        return;
    }
    say_what_is_wrong(r, p, view, history);
    say_why(r, p, view);
    frame_history(r);
    ap_rputs("<dl>\n", r);
    for (i = 0; i < admission_zone_fields_count; i++) {
        write_fact(r, &admission_zone_fields[i],
                   admission_zone_fields[i].of_zone(view));
    }
    ap_rprintf(r,
               "</dl>\n<details id=\"times%d\"><summary>How long requests "
               "waited and ran</summary>\n",
               number);
    draw_histogram(r, p, "Waited, and got a permit", &view->stats.figures.wait);
    draw_histogram(r, p, "Ran", &view->stats.figures.service);
    ap_rputs("</details></section>\n", r);
}

static void write_line(request_rec *r, apr_pool_t *p,
                       const admission_view_t *view)
{
    const char *name = admission_fields_utf8(p, view->zone->name);

    ap_rvputs(r, "<li><a href=\"?zone=", ap_escape_urlencoded(p, name), "\">",
              ap_escape_html(p, name), "</a>", NULL);
    if (view->stats.active > 0 || view->stats.queued > 0) {
        ap_rprintf(r, " %u of %u run, %u wait", view->stats.active,
                   view->stats.limit, view->stats.queued);
    }
    else if (!view->is_busy && !was_used(&view->stats)) {
        ap_rputs(" never used", r);
    }
    ap_rputs("</li>\n", r);
}

/* What of a zone is shown first. */
enum { REJECTS, WAITS, RUNS, IDLE, STATES };

/* A history is 5 KB to copy: only where it decides. */
static unsigned char state_of(const admission_zone_t *zone)
{
    admission_view_t view;
    adm_history_t history = { 0 };
    bool has_rejected;

    admission_fields_look_at(zone, &view, NULL);
    has_rejected = adm_figures_rejected(&view.stats.figures) > 0;
    if (has_rejected) {
        admission_fields_look_at(zone, &view, &history);
        has_rejected = rejected_within(&history, 60) > 0;
    }
    return has_rejected            ? REJECTS
           : view.stats.queued > 0 ? WAITS
           : view.stats.active > 0 ? RUNS
                                   : IDLE;
}

/* The numbers of the zones, those first that want to be looked at. @return how
 * many are to be shown whole. */
static int sort_zones(apr_pool_t *p, const apr_array_header_t *zones,
                      int *order)
{
    unsigned char *states = apr_pcalloc(p, (apr_size_t)zones->nelts);
    int i, state, idle = 0, sorted = 0;

    for (i = 0; i < zones->nelts && zones->nelts > WHOLE_ZONES_MAX; i++) {
        states[i] = state_of(APR_ARRAY_IDX(zones, i, admission_zone_t *));
        idle += states[i] == IDLE;
    }
    for (state = 0; state < STATES; state++) {
        for (i = 0; i < zones->nelts; i++) {
            if (states[i] == state) {
                order[sorted++] = i;
            }
        }
    }
    return sorted - idle < WHOLE_ZONES_MAX ? sorted - idle : WHOLE_ZONES_MAX;
}

static void write_zones(request_rec *r, const apr_array_header_t *zones)
{
    int *order = apr_palloc(r->pool, (apr_size_t)zones->nelts * sizeof(*order));
    int whole = sort_zones(r->pool, zones, order);
    int end = zones->nelts < whole + LINES_MAX ? zones->nelts
                                               : whole + LINES_MAX;
    apr_pool_t *p; /* of one zone */
    int i;

    apr_pool_create(&p, r->pool);
    for (i = 0; i < end && !r->connection->aborted; i++) {
        admission_view_t view;
        adm_history_t history = { 0 };

        apr_pool_clear(p);
        admission_fields_look_at(APR_ARRAY_IDX(zones, order[i],
                                               admission_zone_t *),
                                 &view, i < whole ? &history : NULL);
        if (i == whole) {
            ap_rvputs(r, "<section><h2>", whole ? "Other zones" : "Zones",
                      "</h2>\n<ul>\n", NULL);
        }
        if (i < whole) {
            write_whole(r, p, order[i], &view, &history);
        }
        else {
            write_line(r, p, &view);
        }
    }
    if (end > whole) {
        ap_rputs("</ul>\n", r);
        if (end < zones->nelts) {
            ap_rprintf(r, "<p>%d more are not shown.</p>\n",
                       zones->nelts - end);
        }
        ap_rputs("</section>\n", r);
    }
    apr_pool_destroy(p);
}

static void write_server(request_rec *r, const adm_server_stats_t *server)
{
    int i;

    ap_rputs("<section><h2>Workers and children</h2>\n", r);
    if (server->unlimited) {
        say(r, "bad",
            "Requests were let through without a limit because of a "
            "fault; the error log has the reason.");
    }
    ap_rputs("<dl>\n", r);
    for (i = 0; i < admission_server_fields_count; i++) {
        write_fact(r, &admission_server_fields[i],
                   admission_server_fields[i].of_server(server));
    }
    ap_rputs("</dl></section>\n", r);
}

int admission_page_style(request_rec *r)
{
    return write_constant(r, "text/css; charset=utf-8", style);
}

int admission_page_script(request_rec *r)
{
    return write_constant(r, "text/javascript; charset=utf-8", script);
}

int admission_page_write(request_rec *r, const admission_zone_t *only)
{
    adm_server_stats_t server;

    admission_fields_look_at_server(&server);
    ap_set_content_type(r, "text/html; charset=utf-8");
    apr_table_setn(r->headers_out, "Cache-Control", "no-store");
    apr_table_setn(r->headers_out, "Content-Security-Policy",
                   "default-src 'none'; style-src 'self'; script-src 'self'; "
                   "connect-src 'self'; img-src data:; base-uri 'none'; "
                   "form-action 'none'");
    ap_rputs(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width,"
        "initial-scale=1\">\n<title>Admission control</title>\n"
        "<link rel=\"icon\" href=\"data:,\">"
        "<link rel=\"stylesheet\" href=\"?style\">\n"
        "<script src=\"?script\" defer></script>\n"
        "<noscript><meta http-equiv=\"refresh\" content=\"5\"></noscript>"
        "</head><body>\n<noscript><p>Without script the charts stay empty; "
        "the numbers are complete.</p></noscript>\n<h1>Admission control<span id=\"stale\" "
        "class=\"bad\"></span></h1>\n<main>\n",
        r);
    write_zones(r, admission_fields_zones(r->pool, only));
    write_server(r, &server);
    ap_rputs(
        "</main>\n<p class=\"key\"><span>For programs: <a href=\"?json\">JSON"
        "</a>, <a href=\"?prometheus\">Prometheus</a></span></p></body></html>\n",
        r);
    return OK;
}
