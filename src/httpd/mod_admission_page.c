/* mod_admission_page.c - SetHandler admission-status: a live page for people.
 *
 * Everything is drawn here, so that the page is the same with and without
 * script; the script only fetches it again and swaps what has changed. Style
 * and script are answers of this same handler: the page loads nothing from
 * elsewhere and needs no exception from a Content-Security-Policy of 'self'.
 */
#include <httpd.h>
#include <apr_strings.h>
#include <http_protocol.h>

#include "mod_admission_fields.h"

APLOG_USE_MODULE(admission);

#define CHART_WIDTH 600 /* a second a unit */
#define CHART_HEIGHT 100

/* ---- style and script ---------------------------------------------------------------- */

static const char style[] =
    ":root{color-scheme:light dark;--fg:#1b1f24;--bg:#fff;--soft:#6a737d;"
    "--line:#d8dee4;--active:#0969da;--queued:#bc4c00;--bad:#cf222e;"
    "--ok:#1a7f37}"
    "@media(prefers-color-scheme:dark){:root{--fg:#e6edf3;--bg:#0d1117;"
    "--soft:#8b949e;--line:#30363d;--active:#58a6ff;--queued:#f0883e;"
    "--bad:#ff7b72;--ok:#3fb950}}"
    "body{font:15px/1.4 system-ui,sans-serif;margin:1rem auto;max-width:60rem;"
    "padding:0 .75rem;color:var(--fg);background:var(--bg)}"
    "h1{font-size:1.3rem}h2{font-size:1.1rem;margin:0;overflow-wrap:anywhere}"
    "section{border:1px solid var(--line);border-radius:.5rem;padding:.75rem;"
    "margin:.75rem 0}"
    "dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(7.5rem,1fr));"
    "gap:.4rem;margin:.6rem 0}dl div{display:flex;flex-direction:column-reverse}"
    "dt{color:var(--soft);font-size:.8rem}"
    "dd{margin:0;font-size:1.1rem;font-variant-numeric:tabular-nums}"
    /* Charts are stretched; lines keep their width, and words stand outside. */
    "svg{width:100%;height:7rem;display:block}"
    "svg *{vector-effect:non-scaling-stroke}"
    ".active,.queued{fill:none;stroke-width:1.5}.active{stroke:var(--active)}"
    ".queued{stroke:var(--queued)}"
    ".limit{stroke:var(--soft);stroke-dasharray:4 3}"
    ".say{margin:.4rem 0}.bad{color:var(--bad)}.ok{color:var(--ok)}"
    ".key{color:var(--soft);font-size:.8rem;display:flex;flex-wrap:wrap;"
    "gap:0 1rem;justify-content:space-between;margin:.3rem 0}"
    ".key b{font-weight:600}.key a{color:inherit}"
    ".key .a{color:var(--active)}.key .q{color:var(--queued)}"
    "details{margin-top:.4rem}summary{cursor:pointer;color:var(--soft)}"
    "table{border-spacing:.6rem 0;width:100%;font-size:.8rem}"
    "caption{text-align:left;padding:.4rem 0 .2rem;color:var(--soft)}"
    "th{font-weight:400;white-space:nowrap}th,td{text-align:right}"
    "td:nth-child(2){width:100%}table svg{height:.7rem;fill:var(--active)}";

static const char script[] =
    "'use strict';"
    "async function refresh(){"
    "try{const answer=await fetch(location.href,{cache:'no-store'});"
    "const page=new DOMParser().parseFromString(await answer.text(),"
    "'text/html');"
    "const open=new Set([...document.querySelectorAll('details[open]')]"
    ".map(d=>d.id));"
    "const main=page.querySelector('main');"
    "main.querySelectorAll('details').forEach(d=>{d.open=open.has(d.id)});"
    "document.querySelector('main').replaceWith(main);"
    "document.querySelector('#stale').textContent=''}"
    "catch(e){document.querySelector('#stale').textContent="
    "' (no answer from the server)'}"
    "setTimeout(refresh,document.hidden?10000:1000)}"
    "setTimeout(refresh,1000);";

static int write_constant(request_rec *r, const char *type, const char *text)
{
    ap_set_content_type(r, type);
    apr_table_setn(r->headers_out, "Cache-Control", "max-age=3600");
    ap_rputs(text, r);
    return OK;
}

/* ---- what is wrong --------------------------------------------------------------------- */

/* For how many seconds up to now the line was full. */
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

static void say_what_is_wrong(request_rec *r, const admission_view_t *view,
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
            apr_psprintf(r->pool,
                         "Queue full for %d s: %" APR_UINT64_T_FMT " rejected. "
                         "Raise MaxConcurrent only if memory allows.",
                         full, rejected_within(history, full)));
    }
    else if (rejected > 0) {
        say(r, "bad",
            apr_psprintf(r->pool,
                         "%" APR_UINT64_T_FMT " rejected in the last minute.",
                         rejected));
    }
    else if (stats->queued > 0) {
        say(r, "",
            apr_psprintf(r->pool,
                         "%u wait, the first for %" APR_INT64_T_FMT
                         " ms; nobody is rejected.",
                         stats->queued,
                         (apr_int64_t)(stats->oldest_wait_usec
                                       / ADM_USEC_PER_MSEC)));
    }
    else {
        say(r, "ok", "Nobody waits.");
    }
}

/* ---- charts ------------------------------------------------------------------------------ */

static uint32_t highest(const adm_history_t *history, uint32_t at_least)
{
    int i;

    for (i = 0; i < ADM_HISTORY_SECONDS; i++) {
        if (history->active[i] > at_least) {
            at_least = history->active[i];
        }
        if (history->queued[i] > at_least) {
            at_least = history->queued[i];
        }
    }
    return at_least ? at_least : 1;
}

static double height_of(uint32_t value, uint32_t top)
{
    return CHART_HEIGHT - (double)value * CHART_HEIGHT / top;
}

/* Corners only: a run of equal seconds is two points. */
static void draw_line(request_rec *r, const char *class, const uint32_t *values,
                      uint32_t top)
{
    int i;

    ap_rvputs(r, "<polyline class=\"", class, "\" points=\"", NULL);
    for (i = 0; i < ADM_HISTORY_SECONDS; i++) {
        int is_corner = i == 0 || i == ADM_HISTORY_SECONDS - 1
                        || values[i] != values[i - 1]
                        || values[i] != values[i + 1];

        if (is_corner) {
            ap_rprintf(r, "%d,%.1f ", i, height_of(values[i], top));
        }
    }
    ap_rputs("\"/>\n", r);
}

static void draw_history(request_rec *r, const admission_view_t *view,
                         const adm_history_t *history)
{
    uint32_t top = highest(history, view->stats.limit);

    ap_rprintf(r,
               "<p class=\"key\"><span><b class=\"a\">active</b>, <b class="
               "\"q\">queued</b>, dashed: limit</span><span>0 to %u"
               "</span></p>\n<svg viewBox=\"0 -2 %d %d\" "
               "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"active "
               "and queued over the last ten minutes\">\n"
               "<line class=\"limit\" x1=\"0\" x2=\"%d\" y1=\"%.1f\" "
               "y2=\"%.1f\"/>\n",
               top, CHART_WIDTH, CHART_HEIGHT + 4, CHART_WIDTH,
               height_of(view->stats.limit, top),
               height_of(view->stats.limit, top));
    draw_line(r, "queued", history->queued, top);
    draw_line(r, "active", history->active, top);
    ap_rputs("</svg>\n<p class=\"key\"><span>10 min ago</span><span>now</span>"
             "</p>\n",
             r);
}

static const char *name_bucket(apr_pool_t *p, int bucket)
{
    int is_last = bucket == ADM_HISTOGRAM_BUCKETS - 1;
    int msec = 1 << (is_last ? bucket - 1 : bucket);

    return apr_psprintf(p, "%s %d %s", is_last ? "from" : "below",
                        msec < 1000 ? msec : msec / 1000,
                        msec < 1000 ? "ms" : "s");
}

static void draw_bar(request_rec *r, int bucket, uint64_t count, uint64_t top)
{
    ap_rprintf(
        r,
        "<tr><th>%s</th><td><svg aria-hidden=\"true\"><rect "
        "width=\"%.1f%%\" height=\"100%%\"/></svg></td><td>%" APR_UINT64_T_FMT
        "</td></tr>\n",
        name_bucket(r->pool, bucket), 100 * (double)count / (double)top, count);
}

/* From the first to the last that is not empty. */
static void draw_histogram(request_rec *r, const char *title,
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
        draw_bar(r, i, durations->bucket[i], top);
    }
    ap_rputs("</table>\n", r);
}

/* ---- the page ------------------------------------------------------------------------------ */

static void write_fact(request_rec *r, const char *name, apr_int64_t value)
{
    ap_rprintf(r, "<div><dt>%s</dt><dd>%" APR_INT64_T_FMT "</dd></div>\n", name,
               value);
}

static void write_zone(request_rec *r, int number, const admission_view_t *view)
{
    adm_history_t history = { { 0 }, { 0 }, { 0 } };
    const char *name = admission_utf8(r->pool, view->zone->name);
    int i;

    ap_rvputs(r, "<section><h2>", ap_escape_html(r->pool, name), "</h2>\n",
              NULL);
    if (view->is_busy) {
        say(r, "bad", "Busy: a process that does not run holds its lock.");
        ap_rputs("</section>\n", r);
        return;
    }
    adm_zone_history(admission_child(), view->zone->handle, adm_now(),
                     &history);
    say_what_is_wrong(r, view, &history);
    draw_history(r, view, &history);
    ap_rputs("<dl>\n", r);
    for (i = 0; i < admission_zone_fields_count; i++) {
        write_fact(r, admission_zone_fields[i].name,
                   admission_zone_fields[i].of_zone(view));
    }
    ap_rprintf(r,
               "</dl>\n<details id=\"times%d\"><summary>How long requests "
               "waited and ran</summary>\n",
               number);
    draw_histogram(r, "Waited, and got a permit", &view->stats.wait);
    draw_histogram(r, "Ran", &view->stats.service);
    ap_rputs("</details></section>\n", r);
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
        write_fact(r, admission_server_fields[i].name,
                   admission_server_fields[i].of_server(server));
    }
    ap_rputs("</dl></section>\n", r);
}

static int write_page(request_rec *r)
{
    adm_server_stats_t server;
    const apr_array_header_t *views = admission_look(r->pool, &server);
    int i;

    ap_set_content_type(r, "text/html; charset=utf-8");
    apr_table_setn(r->headers_out, "Cache-Control", "no-store");
    apr_table_setn(r->headers_out, "Content-Security-Policy",
                   "default-src 'none'; style-src 'self'; script-src 'self'; "
                   "connect-src 'self'; img-src data:; base-uri 'none'; "
                   "form-action 'none'");
    ap_rputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
             "<meta name=\"viewport\" content=\"width=device-width,"
             "initial-scale=1\">\n<title>Admission control</title>\n"
             "<link rel=\"icon\" href=\"data:,\">"
             "<link rel=\"stylesheet\" href=\"?style\">\n"
             "<script src=\"?script\" defer></script>\n"
             "<noscript><meta http-equiv=\"refresh\" content=\"5\"></noscript>"
             "</head><body>\n<h1>Admission control<span id=\"stale\" "
             "class=\"bad\"></span></h1>\n<main>\n",
             r);
    for (i = 0; i < views->nelts; i++) {
        write_zone(r, i, &APR_ARRAY_IDX(views, i, admission_view_t));
    }
    write_server(r, &server);
    ap_rputs(
        "</main>\n<p class=\"key\"><span>For programs: <a href=\"?json\">JSON"
        "</a>, <a href=\"?prometheus\">Prometheus</a></span></p></body></html>\n",
        r);
    return OK;
}

/* ---- the handler ----------------------------------------------------------------------------- */

#define LOG_INTERVAL (60 * ADM_USEC_PER_SEC)

/* Authors of .htaccess must not read what all others do here. */
static int refuse_page(request_rec *r)
{
    static _Atomic adm_usec_t logged_at;
    adm_usec_t last = atomic_load(&logged_at), now = adm_now();

    if ((!last || now - last >= LOG_INTERVAL)
        && atomic_compare_exchange_strong(&logged_at, &last, now)) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r, ADMLOGNO(0206)
                      "%s: the handler " ADMISSION_STATUS_HANDLER " does not "
                      "come from a SetHandler of the server's configuration, "
                      "refused; not logged again by this child for a minute",
                      r->uri);
    }
    return HTTP_FORBIDDEN;
}

int admission_status_handler(request_rec *r)
{
    const char *query = r->args ? r->args : "";

    if (strcmp(r->handler, ADMISSION_STATUS_HANDLER) != 0) {
        return DECLINED;
    }
    if (!admission_is_status_open(r)) {
        return refuse_page(r);
    }
    r->allowed |= AP_METHOD_BIT << M_GET;
    if (r->method_number != M_GET) {
        return HTTP_METHOD_NOT_ALLOWED;
    }
    if (strcmp(query, "style") == 0) {
        return write_constant(r, "text/css; charset=utf-8", style);
    }
    if (strcmp(query, "script") == 0) {
        return write_constant(r, "text/javascript; charset=utf-8", script);
    }
    if (!admission_child()) {
        return HTTP_SERVICE_UNAVAILABLE;
    }
    if (strcmp(query, "json") == 0) {
        return admission_write_json(r);
    }
    if (strcmp(query, "prometheus") == 0) {
        return admission_write_metrics(r);
    }
    return *query ? HTTP_NOT_FOUND : write_page(r);
}
