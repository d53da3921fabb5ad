/* view_page_zone.c - the page of one zone.
 *
 * The most important facts come first: the state, the limit, why requests are
 * rejected, which requests run and wait.
 */
#include <httpd.h>
#include <apr_strings.h>
#include <http_protocol.h>

#include "view_page.h"
#include "fair/fair_page.h"
#include "view_text.h"

/* ---- histograms ---------------------------------------------------------- */

static const char *name_bucket(apr_pool_t *p, int bucket)
{
    bool is_last = bucket == ADM_HISTOGRAM_BUCKETS - 1;
    int msec = 1 << (is_last ? bucket - 1 : bucket);

    return apr_psprintf(p, "%s %d %s", is_last ? "from" : "below",
                        msec < 1000 ? msec : msec / 1000,
                        msec < 1000 ? "ms" : "s");
}

/* Draw the buckets from the first to the last that is not empty. */
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
    ap_rprintf(r,
               "<table class=\"times\"><caption>%s: %" APR_UINT64_T_FMT
               "; median %s, p95 %s</caption>\n",
               title, durations->count,
               admission_page_words_percentile(p, durations, 50),
               admission_page_words_percentile(p, durations, 95));
    for (i = first; i <= last; i++) {
        ap_rprintf(r,
                   "<tr><th scope=\"row\">%s</th><td><svg aria-hidden=\"true\">"
                   "<rect width=\"%.1f%%\" height=\"100%%\"/></svg></td>"
                   "<td>%" APR_UINT64_T_FMT "</td></tr>\n",
                   name_bucket(p, i),
                   100 * (double)durations->bucket[i] / (double)top,
                   durations->bucket[i]);
    }
    ap_rputs("</table>\n", r);
}

static void write_times(request_rec *r, apr_pool_t *p,
                        const adm_figures_t *figures)
{
    ap_rputs("<details><summary>Wait and service times</summary>\n", r);
    draw_histogram(r, p, "Wait of requests that got a permit", &figures->wait);
    draw_histogram(r, p, "Service time", &figures->service);
    ap_rputs("</details>\n", r);
}

/* ---- overrides ----------------------------------------------------------- */

static void begin_form(request_rec *r, apr_pool_t *p, const char *name)
{
    ap_rvputs(r, "<form class=\"order\" method=\"post\" action=\"?zone=",
              ap_escape_urlencoded(p, name),
              "\"><input type=\"hidden\" name=\"zone\" value=\"",
              ap_escape_html2(p, name, 0), "\">", NULL);
}

static void write_number_form(request_rec *r, apr_pool_t *p, const char *name,
                              const char *label, const char *key, int min,
                              int max, uint32_t value)
{
    begin_form(r, p, name);
    ap_rprintf(r,
               "<label>%s <input type=\"number\" name=\"%s\" min=\"%d\" "
               "max=\"%d\" value=\"%u\" required></label> <button>Set</button>"
               "</form>\n",
               label, key, min, max, value);
}

static void write_mode_form(request_rec *r, apr_pool_t *p, const char *name,
                            adm_mode_t now)
{
    int mode;

    begin_form(r, p, name);
    ap_rputs("<span>Mode</span>", r);
    for (mode = 0; mode < ADM_MODES; mode++) {
        const char *word = adm_mode_name((adm_mode_t)mode);

        ap_rvputs(r, " <button name=\"mode\" value=\"", word,
                  "\" aria-pressed=\"", mode == (int)now ? "true" : "false",
                  "\">", word, "</button>", NULL);
    }
    ap_rputs("</form>\n", r);
}

static void write_override_forms(request_rec *r, apr_pool_t *p,
                                 const admission_view_t *view)
{
    const char *name = admission_text_utf8(p, view->zone->name);
    const adm_zone_stats_t *stats = &view->stats;

    ap_rputs(
        "<fieldset><legend>Change limits now, in all child processes</legend>\n",
        r);
    write_number_form(r, p, name, "Limit", "limit", 1, ADMISSION_LIMIT_MAX,
                      stats->limit_override == ADM_OVERRIDE_NONE
                          ? stats->limit_configured
                          : stats->limit_override);
    write_number_form(r, p, name, "Queue", "queue", 0, ADMISSION_QUEUE_MAX,
                      stats->queue_length);
    write_mode_form(r, p, name, stats->mode);
    begin_form(r, p, name);
    ap_rputs("<input type=\"hidden\" name=\"limit\" value=\"config\">"
             "<input type=\"hidden\" name=\"queue\" value=\"config\">"
             "<input type=\"hidden\" name=\"mode\" value=\"config\">"
             "<button>Reset to configuration</button></form>\n</fieldset>\n",
             r);
}

/* Write "rejecting: 2 of 2 running, 3 of 3 waiting". */
static void write_state(request_rec *r, const admission_view_t *view,
                        const adm_history_t *history)
{
    const adm_zone_stats_t *stats = &view->stats;
    admission_page_state_t state = admission_page_words_state(view, history);

    ap_rprintf(r, "<p class=\"now\"><b class=\"s%d\">%s</b>", (int)state,
               admission_page_words_state_name(state));
    if (!view->is_busy) {
        ap_rprintf(r, ": %u of %u running, %u of %u waiting", stats->active,
                   stats->limit, stats->queued, stats->queue_length);
    }
    ap_rputs("</p>\n", r);
}

void admission_page_zone_write(request_rec *r, apr_pool_t *p,
                               const admission_zone_t *zone, bool can_override)
{
    admission_view_t view;
    admission_facts_t facts;
    adm_history_t history = { 0 };

    admission_fields_sample_zone(zone, &view, &history);
    ap_rvputs(r, "<section class=\"zone\"><h2>",
              ap_escape_html(p, admission_text_utf8(p, zone->name)), "</h2>\n",
              NULL);
    write_state(r, &view, &history);
    admission_page_words_write_problems(r, p, &view, &history);
    if (!view.is_busy) {
        admission_fields_of_zone(&view, &facts);
        admission_page_facts_reasons(r, &facts);
        admission_page_who_write(r, p, zone);
        admission_page_keys_write(r, p, zone);
        admission_page_chart_write(r, view.stats.limit, &history);
        if (can_override) {
            write_override_forms(r, p, &view);
        }
        admission_page_facts_zone(r, p, &facts);
        write_times(r, p, &view.stats.figures);
    }
    ap_rputs("</section>\n", r);
}
