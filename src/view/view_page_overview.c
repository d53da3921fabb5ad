/* view_page_overview.c - all zones, one row per zone. */
#include <httpd.h>
#include <apr_strings.h>
#include <http_protocol.h>

#include "view_page.h"
#include "view_text.h"
#include "module/zones.h"

/* Bounds the rows: a page of 1,000 zones stays below 100 KB. */
#define ROWS_MAX 60

typedef struct overview_t {
    const admission_zone_t **zones; /* the selected zones, in order */
    int count;
    int in_state[ADMISSION_PAGE_STATES];
} overview_t;

/* ---- selection and order ------------------------------------------------- */

/* The history, 5 KB to copy, is read only if the state depends on it. */
static admission_page_state_t state_of(const admission_zone_t *zone)
{
    admission_view_t view;
    adm_history_t history = { 0 };

    admission_fields_sample_zone(zone, &view, NULL);
    if (adm_figures_rejected(&view.stats.figures) > 0) {
        admission_fields_sample_zone(zone, &view, &history);
    }
    return admission_page_words_state(&view, &history);
}

/* Select the zones by name, and order them by their states, sampled once each. */
static void sort_zones(apr_pool_t *p, const char *filter, overview_t *overview)
{
    const admission_zone_t *first = admission_fields_zones(p, NULL), *zone;
    apr_size_t room = (apr_size_t)admission_zones_count();
    unsigned char *states = apr_palloc(p, room + 1);
    int i, state;

    *overview = (overview_t){
        .zones = apr_palloc(p, (room + 1) * sizeof(*overview->zones))
    };
    for (i = 0, zone = first; zone; i++, zone = zone->next) {
        states[i] = ADMISSION_PAGE_STATES;
        if (!filter
            || ap_strcasestr(admission_text_utf8(p, zone->name), filter)) {
            states[i] = (unsigned char)state_of(zone);
            overview->in_state[states[i]]++;
        }
    }
    for (state = 0; state < ADMISSION_PAGE_STATES; state++) {
        for (i = 0, zone = first; zone; i++, zone = zone->next) {
            if (states[i] == state) {
                overview->zones[overview->count++] = zone;
            }
        }
    }
}

/* ---- a row --------------------------------------------------------------- */

/* Write the usage, as a bar and in numbers. */
static void write_bar(request_rec *r, uint32_t used, uint32_t room)
{
    double percent = room == 0      ? 0
                     : used >= room ? 100
                                    : 100 * (double)used / (double)room;

    ap_rprintf(r, "<td>%u / %u", used, room);
    if (used > 0) {
        ap_rprintf(r,
                   "<svg class=\"bar\" aria-hidden=\"true\"><rect "
                   "width=\"%.0f%%\" height=\"100%%\"/></svg>",
                   percent);
    }
    ap_rputs("</td>", r);
}

static void write_times(request_rec *r, apr_pool_t *p,
                        const adm_durations_t *durations)
{
    if (durations->count == 0) {
        ap_rputs("<td class=\"more\"></td>", r);
        return;
    }
    ap_rvputs(r, "<td class=\"more\">",
              admission_page_words_percentile(p, durations, 50), " / ",
              admission_page_words_percentile(p, durations, 95), "</td>", NULL);
}

/* Write two cells: the requests that needed a permit, and the rejected ones with
 * their rate in the last minute. The first rate is empty here: showRate() in
 * page.js fills it in. */
static void write_counts(request_rec *r, const adm_figures_t *figures,
                         const adm_history_t *history)
{
    apr_uint64_t rejected = adm_figures_rejected(figures);
    apr_uint64_t lately = admission_page_words_rejected(history, 60);

    ap_rprintf(r,
               "<td class=\"more\">%" APR_UINT64_T_FMT
               "<span class=\"rate\"></span></td><td>%" APR_UINT64_T_FMT,
               adm_figures_admitted(figures) + rejected, rejected);
    if (lately > 0) {
        ap_rprintf(r, "<span class=\"bad\">%.*f/s</span>", lately < 60 ? 2 : 1,
                   (double)lately / 60);
    }
    ap_rputs("</td>", r);
}

static void write_numbers(request_rec *r, apr_pool_t *p,
                          const admission_view_t *view,
                          const adm_history_t *history)
{
    const adm_zone_stats_t *stats = &view->stats;

    write_bar(r, stats->active, stats->limit);
    write_bar(r, stats->queued, stats->queue_length);
    ap_rvputs(r, "<td class=\"more\">",
              stats->queued
                  ? admission_page_words_time(p, stats->oldest_wait_usec)
                  : "",
              "</td>", NULL);
    write_times(r, p, &stats->figures.wait);
    write_times(r, p, &stats->figures.service);
    write_counts(r, &stats->figures, history);
    ap_rputs("<td class=\"more\">", r);
    admission_page_chart_spark(r, history);
    ap_rputs("</td>", r);
}

static void write_row(request_rec *r, apr_pool_t *p,
                      const admission_zone_t *zone)
{
    const char *name = admission_text_utf8(p, zone->name);
    admission_page_state_t state;
    admission_view_t view;
    adm_history_t history = { 0 };

    admission_fields_sample_zone(zone, &view, &history);
    state = admission_page_words_state(&view, &history);
    ap_rvputs(r, "<tr><th scope=\"row\"><a href=\"?zone=",
              ap_escape_urlencoded(p, name), "\">", ap_escape_html(p, name),
              "</a></th><td class=\"state s", apr_itoa(p, (int)state), "\">",
              admission_page_words_state_name(state),
              zone->dry_run ? ", dry run" : "", "</td>", NULL);
    if (view.is_busy) {
        ap_rputs(
            "<td></td><td></td><td class=\"more\"></td><td class=\"more\">"
            "</td><td class=\"more\"></td><td class=\"more\"></td><td></td>"
            "<td class=\"more\"></td>",
            r);
    }
    else {
        write_numbers(r, p, &view, &history);
    }
    ap_rputs("</tr>\n", r);
}

/* ---- the table ----------------------------------------------------------- */

/* "12 zones: 1 rejecting, 2 waiting, 9 idle." */
static void write_summary(request_rec *r, const overview_t *overview,
                          const char *filter)
{
    const char *separator = ": ";
    int state;

    ap_rprintf(r, "<p id=\"summary\">%d zone%s%s", overview->count,
               overview->count == 1 ? "" : "s",
               filter && *filter ? " with this in the name" : "");
    for (state = 0; state < ADMISSION_PAGE_STATES; state++) {
        if (overview->in_state[state] > 0) {
            ap_rprintf(r, "%s%d %s", separator, overview->in_state[state],
                       admission_page_words_state_name(
                           (admission_page_state_t)state));
            separator = ", ";
        }
    }
    ap_rputs(".</p>\n", r);
}

static void write_filter(request_rec *r, const char *filter)
{
    ap_rvputs(
        r,
        "<form id=\"filter\" role=\"search\"><label>Zones with <input type=\"search\" name=\"filter\" "
        "value=\"",
        ap_escape_html(r->pool,
                       admission_text_utf8(r->pool, filter ? filter : "")),
        "\"> in the name</label> <button>Show</button></form>\n", NULL);
}

static void write_head(request_rec *r)
{
    ap_rputs(
        "<table class=\"zones\"><caption>p50 / p95: median and 95th "
        "percentile since httpd started</caption>\n<thead><tr>"
        "<th scope=\"col\">Zone</th><th scope=\"col\">State</th>"
        "<th scope=\"col\">Running / limit</th>"
        "<th scope=\"col\">Waiting / queue</th>"
        "<th scope=\"col\" class=\"more\">Oldest wait</th>"
        "<th scope=\"col\" class=\"more\">Wait p50 / p95</th>"
        "<th scope=\"col\" class=\"more\">Service p50 / p95</th>"
        "<th scope=\"col\" class=\"more\">Requests</th>"
        "<th scope=\"col\">Rejected</th>"
        "<th scope=\"col\" class=\"more\">Last 10 minutes</th></tr></thead>\n"
        "<tbody id=\"rows\">\n",
        r);
}

static void write_rest(request_rec *r, int rest)
{
    ap_rputs("<p id=\"rest\">", r);
    if (rest > 0) {
        ap_rprintf(r, "%d more are not shown.", rest);
    }
    ap_rputs("</p>\n", r);
}

void admission_page_overview_write(request_rec *r, const char *filter)
{
    overview_t overview;
    apr_pool_t *p; /* of one zone */
    int i, end;

    sort_zones(r->pool, filter, &overview);
    end = overview.count < ROWS_MAX ? overview.count : ROWS_MAX;
    ap_rputs("<section><h2>Zones</h2>\n", r);
    write_filter(r, filter);
    write_summary(r, &overview, filter);
    write_head(r);
    apr_pool_create(&p, r->pool);
    for (i = 0; i < end && !r->connection->aborted; i++) {
        apr_pool_clear(p);
        write_row(r, p, overview.zones[i]);
    }
    apr_pool_destroy(p);
    ap_rputs("</tbody></table>\n", r);
    write_rest(r, overview.count - end);
    ap_rputs("</section>\n", r);
}
