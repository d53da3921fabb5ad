/* view_page_chart.c - chart of the last ten minutes of a zone. */
#include <apr_time.h>
#include <http_protocol.h>

#include "view_page.h"

#define SPARK_POINTS 40
#define SPARK_SECONDS (ADM_HISTORY_SECONDS / SPARK_POINTS)
#define TICK_SECONDS 120

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t largest(const uint32_t *numbers, int count)
{
    uint32_t most = 0;
    int i;

    for (i = 0; i < count; i++) {
        most = larger(most, numbers[i]);
    }
    return most;
}

/* Draw a line, with points only where it bends. */
static void draw_line(request_rec *r, const char *kind, const uint32_t *numbers,
                      int count, uint32_t top)
{
    int i;

    ap_rvputs(r, "<polyline class=\"", kind, "\" points=\"", NULL);
    for (i = 0; i < count; i++) {
        if (i == 0 || i == count - 1 || numbers[i] != numbers[i - 1]
            || numbers[i] != numbers[i + 1]) {
            ap_rprintf(r, "%d,%.1f ", i,
                       100 - 100 * (double)numbers[i] / (double)top);
        }
    }
    ap_rputs("\"/>", r);
}

/* Draw a mark at each second with a rejection. */
static void draw_rejections(request_rec *r, const adm_history_t *history)
{
    int i;

    ap_rputs("<path class=\"rejected\" d=\"", r);
    for (i = 1; i < ADM_HISTORY_SECONDS; i++) {
        if (history->rejected[i] != history->rejected[i - 1]) {
            ap_rprintf(r, "M%d 0v8", i);
        }
    }
    ap_rputs("\"/>", r);
}

/* Write the server's time of day @a ago seconds ago. */
static void write_time(request_rec *r, int ago)
{
    apr_time_exp_t time;

    apr_time_exp_lt(&time, apr_time_now() - apr_time_from_sec(ago));
    ap_rprintf(r, "%02d:%02d", time.tm_hour, time.tm_min);
}

static void write_axis(request_rec *r)
{
    int ago;

    ap_rputs("<p class=\"x\">", r);
    for (ago = ADM_HISTORY_SECONDS; ago >= 0; ago -= TICK_SECONDS) {
        ap_rputs("<span>", r);
        write_time(r, ago);
        ap_rputs("</span>", r);
    }
    ap_rputs("</p>\n", r);
}

void admission_page_chart_write(request_rec *r, uint32_t limit,
                                const adm_history_t *history)
{
    uint32_t active = largest(history->active, ADM_HISTORY_SECONDS);
    uint32_t queued = largest(history->queued, ADM_HISTORY_SECONDS);
    uint32_t highest = largest(history->limit, ADM_HISTORY_SECONDS);
    uint32_t top = larger(larger(active, queued), larger(highest, 1));

    ap_rprintf(
        r,
        "<div class=\"history\"><p class=\"key\"><span>Maximum in each "
        "second: <b class=\"a\">running</b> and <b class=\"q\">waiting</b> "
        "requests; <b class=\"r\">marks</b>: rejected requests; dashed: "
        "the limit, now %u</span></p>\n"
        "<div class=\"plot\"><p class=\"y\"><span>%u</span><span>0</span>"
        "</p><svg class=\"chart\" viewBox=\"0 -2 600 104\" "
        "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"The last "
        "ten minutes: at most %u ran and %u waited, the limit was %u at "
        "most\">",
        limit, top, active, queued, highest);
    draw_line(r, "limit", history->limit, ADM_HISTORY_SECONDS, top);
    draw_rejections(r, history);
    draw_line(r, "queued", history->queued, ADM_HISTORY_SECONDS, top);
    draw_line(r, "active", history->active, ADM_HISTORY_SECONDS, top);
    ap_rputs("</svg></div>\n", r);
    write_axis(r);
    ap_rputs(
        "<p class=\"key\"><span>The server's time of day</span></p></div>\n",
        r);
}

void admission_page_chart_spark(request_rec *r, const adm_history_t *history)
{
    uint32_t active[SPARK_POINTS], queued[SPARK_POINTS], top;
    int i;

    for (i = 0; i < SPARK_POINTS; i++) {
        active[i] = largest(history->active + i * SPARK_SECONDS, SPARK_SECONDS);
        queued[i] = largest(history->queued + i * SPARK_SECONDS, SPARK_SECONDS);
    }
    top = larger(largest(active, SPARK_POINTS), largest(queued, SPARK_POINTS));
    if (top == 0) {
        return;
    }
    ap_rprintf(r,
               "<svg class=\"spark\" viewBox=\"0 -4 %d 108\" "
               "preserveAspectRatio=\"none\" aria-hidden=\"true\">",
               SPARK_POINTS - 1);
    draw_line(r, "queued", queued, SPARK_POINTS, top);
    draw_line(r, "active", active, SPARK_POINTS, top);
    ap_rputs("</svg>", r);
}
