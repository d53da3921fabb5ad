/* mod_admission_page.c - SetHandler admission-status: a live page for people.
 *
 * All numbers are written here, so that they are the same with and without
 * script; the script only fetches the page again, swaps what has changed, and
 * draws the charts of the zones in sight. Style and script are answers of this
 * same handler: the page loads nothing from elsewhere and needs no exception
 * from a Content-Security-Policy of 'self'.
 */
#include <httpd.h>
#include <apr_strings.h>
#include <http_protocol.h>

#include "mod_admission_fields.h"

APLOG_USE_MODULE(admission);

/* Of more zones than this, those where something happens are shown whole, up
 * to as many; the others have a line each, up to so many. */
#define WHOLE_ZONES_MAX 24
#define LINES_MAX 2000

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
    "ul{columns:20rem;padding-left:1.2rem;overflow-wrap:anywhere}"
    "a{color:var(--active)}"
    "td:nth-child(2){width:100%}table svg{height:.7rem;fill:var(--active)}";

static const char script[] =
    "'use strict';"
    "const nameOf=chart=>"
    "chart.closest('section').querySelector('h2').textContent;"
    "const allCharts=()=>[...document.querySelectorAll('svg.chart')];"
    /* Corners only: a run of equal seconds is two points. */
    "const lineOf=(kind,values,y)=>`<polyline class=\"${kind}\" points=\"`"
    "+values.map((v,i)=>i===0||i===values.length-1||v!==values[i-1]"
    "||v!==values[i+1]?`${i},${y(v)} `:'').join('')+'\"/>';"
    "function draw(chart,{limit,history}){"
    "if(!history.active)return;"
    "const top=Math.max(1,limit,...history.active,...history.queued);"
    "const y=v=>(100-v*100/top).toFixed(1);"
    "chart.innerHTML=`<line class=\"limit\" x1=\"0\" x2=\"600\" "
    "y1=\"${y(limit)}\" y2=\"${y(limit)}\"/>`"
    "+lineOf('queued',history.queued,y)+lineOf('active',history.active,y);"
    "chart.previousElementSibling.querySelector('.top').textContent="
    "`0 to ${top}`}"
    "async function drawThoseInSight(){"
    "for(const chart of allCharts()){"
    "const {top,bottom}=chart.getBoundingClientRect();"
    "if(bottom<0||top>innerHeight)continue;"
    "const answer=await fetch('?json&history='"
    "+encodeURIComponent(nameOf(chart)),{cache:'no-store'});"
    "if(answer.ok)draw(chart,(await answer.json()).zones[0])}}"
    "async function swap(){"
    "const answer=await fetch(location.href,{cache:'no-store'});"
    "const page=new DOMParser().parseFromString(await answer.text(),"
    "'text/html');"
    "const open=new Set([...document.querySelectorAll('details[open]')]"
    ".map(d=>d.id));"
    "const drawn=new Map(allCharts().map(c=>[nameOf(c),"
    "c.closest('.history')]));"
    "const main=page.querySelector('main');"
    "main.querySelectorAll('details').forEach(d=>{d.open=open.has(d.id)});"
    "main.querySelectorAll('svg.chart').forEach(c=>{"
    "const old=drawn.get(nameOf(c));"
    "if(old)c.closest('.history').replaceWith(old)});"
    "document.querySelector('main').replaceWith(main)}"
    "async function refresh(first){"
    "try{if(!first)await swap();await drawThoseInSight();"
    "document.querySelector('#stale').textContent=''}"
    "catch(e){document.querySelector('#stale').textContent="
    "' (no answer from the server)'}"
    "setTimeout(refresh,document.hidden?10000:1000)}"
    "refresh(true);";

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
    else {
        say(r, "ok", "Nobody waits.");
    }
}

/* ---- charts ------------------------------------------------------------------------------ */

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
    int is_last = bucket == ADM_HISTOGRAM_BUCKETS - 1;
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

/* ---- the page ------------------------------------------------------------------------------ */

static void write_fact(request_rec *r, const char *name, apr_int64_t value)
{
    ap_rprintf(r, "<div><dt>%s</dt><dd>%" APR_INT64_T_FMT "</dd></div>\n", name,
               value);
}

static void write_whole(request_rec *r, apr_pool_t *p, int number,
                        const admission_view_t *view,
                        const adm_history_t *history)
{
    int i;

    ap_rvputs(r, "<section><h2>",
              ap_escape_html(p, admission_utf8(p, view->zone->name)), "</h2>\n",
              NULL);
    if (view->is_busy) {
        say(r, "bad", "Busy: a process that does not run holds its lock.");
        ap_rputs("</section>\n", r);
        return;
    }
    say_what_is_wrong(r, p, view, history);
    frame_history(r);
    ap_rputs("<dl>\n", r);
    for (i = 0; i < admission_zone_fields_count; i++) {
        write_fact(r, admission_zone_fields[i].name,
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
    const char *name = admission_utf8(p, view->zone->name);

    ap_rvputs(r, "<li><a href=\"?zone=", ap_escape_urlencoded(p, name), "\">",
              ap_escape_html(p, name), "</a>", NULL);
    if (view->stats.active > 0 || view->stats.queued > 0) {
        ap_rprintf(r, " %u of %u run, %u wait", view->stats.active,
                   view->stats.limit, view->stats.queued);
    }
    ap_rputs("</li>\n", r);
}

/* ---- many zones --------------------------------------------------------------------------- */

/* What of a zone is shown first. */
enum { REJECTS, WAITS, RUNS, IDLE, STATES };

/* A history is 5 KB to copy: only where it decides. */
static unsigned char state_of(const admission_zone_t *zone)
{
    admission_view_t view;
    adm_history_t history = { 0 };
    int has_rejected;

    admission_look_at(zone, &view, NULL);
    has_rejected = adm_figures_rejected(&view.stats.figures) > 0;
    if (has_rejected) {
        admission_look_at(zone, &view, &history);
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
        admission_look_at(APR_ARRAY_IDX(zones, order[i], admission_zone_t *),
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
        write_fact(r, admission_server_fields[i].name,
                   admission_server_fields[i].of_server(server));
    }
    ap_rputs("</dl></section>\n", r);
}

static int write_page(request_rec *r, const admission_zone_t *only)
{
    adm_server_stats_t server;

    admission_look_at_server(&server);
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
    write_zones(r, admission_zones_asked_for(r->pool, only));
    write_server(r, &server);
    ap_rputs(
        "</main>\n<p class=\"key\"><span>For programs: <a href=\"?json\">JSON"
        "</a>, <a href=\"?prometheus\">Prometheus</a></span></p></body></html>\n",
        r);
    return OK;
}

/* ---- the handler ----------------------------------------------------------------------------- */

/* What the client asks for, behind the question mark. */
typedef struct query_t {
    const char *output; /* "": the page */
    const char *zone;   /* NULL: all */
    int with_history;
} query_t;

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

static int refuse(request_rec *r, int status, const char *message)
{
    r->status = status;
    ap_set_content_type(r, "text/plain; charset=utf-8");
    apr_table_setn(r->headers_out, "X-Content-Type-Options", "nosniff");
    ap_rvputs(r, message, "\n", NULL);
    return OK;
}

/* @return what is wrong with it; NULL: nothing. */
static const char *read_query(apr_pool_t *p, const char *args, query_t *query)
{
    *query = (query_t){ .output = "" };
    while (*args) {
        const char *value = ap_getword(p, &args, '&');
        const char *key = ap_getword(p, &value, '=');

        if (strcmp(key, "zone") == 0 || strcmp(key, "history") == 0) {
            char *name = apr_pstrdup(p, value);

            if (query->zone) {
                return "zone= and history= name one zone, and once.";
            }
            if (ap_unescape_urlencoded(name) != OK) {
                return "The name of the zone is not encoded as in a URL.";
            }
            query->zone = name;
            query->with_history = *key == 'h';
        }
        else if (*query->output == '\0') {
            query->output = key;
        }
        else {
            return "An answer has one form: json, prometheus, or the page.";
        }
    }
    return query->with_history && strcmp(query->output, "json") != 0
               ? "history= belongs to json: ?json&history=NAME."
               : NULL;
}

/* By its name as written, or as it is shown. */
static const admission_zone_t *find_zone(apr_pool_t *p, const char *name)
{
    const apr_array_header_t *zones = admission_zones_asked_for(p, NULL);
    const admission_zone_t *shown_so = NULL;
    int i;

    for (i = 0; i < zones->nelts; i++) {
        const admission_zone_t *zone = APR_ARRAY_IDX(zones, i,
                                                     admission_zone_t *);
        const char *utf8 = admission_utf8(p, zone->name);

        if (strcmp(zone->name, name) == 0) {
            return zone;
        }
        if (utf8 != zone->name && strcmp(utf8, name) == 0) {
            shown_so = zone;
        }
    }
    return shown_so;
}

static int write_output(request_rec *r, const query_t *query,
                        const admission_zone_t *only)
{
    if (strcmp(query->output, "json") == 0) {
        return admission_write_json(r, only, query->with_history);
    }
    if (strcmp(query->output, "prometheus") == 0) {
        return admission_write_metrics(r, only);
    }
    return *query->output ? HTTP_NOT_FOUND : write_page(r, only);
}

int admission_status_handler(request_rec *r)
{
    const char *args = r->args ? r->args : "";
    const admission_zone_t *only = NULL;
    const char *wrong;
    query_t query;

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
    if (strcmp(args, "style") == 0) {
        return write_constant(r, "text/css; charset=utf-8", style);
    }
    if (strcmp(args, "script") == 0) {
        return write_constant(r, "text/javascript; charset=utf-8", script);
    }
    if (!admission_child()) {
        return HTTP_SERVICE_UNAVAILABLE;
    }
    wrong = read_query(r->pool, args, &query);
    if (wrong) {
        return refuse(r, HTTP_BAD_REQUEST, wrong);
    }
    if (query.zone) {
        only = find_zone(r->pool, query.zone);
        if (!only) {
            return refuse(r, HTTP_NOT_FOUND,
                          apr_pstrcat(r->pool, "No zone is called '",
                                      admission_utf8(r->pool, query.zone), "'.",
                                      NULL));
        }
    }
    return write_output(r, &query, only);
}
