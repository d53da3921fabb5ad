/* view_page_words.c - the state of a zone in words and sentences. */
#include <httpd.h>
#include <apr_strings.h>
#include <http_protocol.h>

#include "module/part.h"
#include "view_page.h"

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

admission_page_state_t admission_page_words_state(const admission_view_t *view,
                                                  const adm_history_t *history)
{
    const adm_zone_stats_t *stats = &view->stats;

    return view->is_busy ? ADMISSION_PAGE_STUCK
           : admission_page_words_rejected(history, 60) > 0
               ? ADMISSION_PAGE_REJECTS
           : stats->mode == ADM_MODE_PAUSE ? ADMISSION_PAGE_PAUSED
           : stats->mode == ADM_MODE_DRAIN ? ADMISSION_PAGE_DRAINS
           : stats->queued > 0             ? ADMISSION_PAGE_WAITS
           : stats->active > 0             ? ADMISSION_PAGE_RUNS
           : was_used(stats)               ? ADMISSION_PAGE_IDLE
                                           : ADMISSION_PAGE_UNUSED;
}

const char *admission_page_words_state_name(admission_page_state_t state)
{
    static const char *const words[] = {
        [ADMISSION_PAGE_STUCK] = "stuck",
        [ADMISSION_PAGE_REJECTS] = "rejecting",
        [ADMISSION_PAGE_PAUSED] = "paused",
        [ADMISSION_PAGE_DRAINS] = "draining",
        [ADMISSION_PAGE_WAITS] = "waiting",
        [ADMISSION_PAGE_RUNS] = "running",
        [ADMISSION_PAGE_IDLE] = "idle",
        [ADMISSION_PAGE_UNUSED] = "never used"
    };

    return words[state];
}

const char *admission_page_words_time(apr_pool_t *p, adm_usec_t usec)
{
    apr_int64_t msec = (apr_int64_t)(usec / ADM_USEC_PER_MSEC);
    int seconds = (int)(msec / 1000), minutes = seconds / 60;

    if (msec < 1000) {
        return apr_psprintf(p, "%d ms", (int)msec);
    }
    if (seconds < 10) {
        return apr_psprintf(p, "%d.%d s", seconds, (int)(msec % 1000 / 100));
    }
    if (minutes == 0) {
        return apr_psprintf(p, "%d s", seconds);
    }
    return minutes < 60
               ? apr_psprintf(p, "%d min %d s", minutes, seconds % 60)
               : apr_psprintf(p, "%d h %d min", minutes / 60, minutes % 60);
}

const char *admission_page_words_size(apr_pool_t *p, apr_uint64_t kb)
{
    static const char *const units[] = { "KB", "MB", "GB", "TB" };
    double size = (double)kb;
    apr_size_t i = 0;

    while (size >= 1000 && i < sizeof(units) / sizeof(*units) - 1) {
        size /= 1024;
        i++;
    }
    return apr_psprintf(p, "%.*f %s", i > 0 && size < 10 ? 1 : 0, size,
                        units[i]);
}

const char *admission_page_words_percentile(apr_pool_t *p,
                                            const adm_durations_t *durations,
                                            unsigned percent)
{
    return durations->count ? admission_page_words_time(
               p, (adm_usec_t)adm_durations_percentile(durations, percent))
                            : "-";
}

apr_uint64_t admission_page_words_rejected(const adm_history_t *history,
                                           int seconds)
{
    int first = ADM_HISTORY_SECONDS - 1 - seconds;

    return history->rejected[ADM_HISTORY_SECONDS - 1]
           - history->rejected[first > 0 ? first : 0];
}

/* @return how many seconds up to now the queue was full. */
static int seconds_full(const adm_history_t *history, uint32_t queue_length)
{
    int i = ADM_HISTORY_SECONDS;

    while (queue_length > 0 && i > 0
           && history->queued[i - 1] >= queue_length) {
        i--;
    }
    return ADM_HISTORY_SECONDS - i;
}

/* "1 request was", "5 requests were" */
static const char *count_of(apr_pool_t *p, apr_uint64_t number,
                            const char *singular, const char *plural)
{
    return apr_psprintf(p, "%" APR_UINT64_T_FMT " %s", number,
                        number == 1 ? singular : plural);
}

void admission_page_words_write(request_rec *r, const char *kind,
                                const char *format, ...)
{
    va_list values;

    va_start(values, format);
    ap_rvputs(r, "<p class=\"say ", kind, "\">", NULL);
    ap_vrprintf(r, format, values);
    ap_rputs("</p>\n", r);
    va_end(values);
}

/* Write the estimated effect of limit and queue in a dry run. */
static void write_dry_run(request_rec *r, apr_pool_t *p,
                          const adm_zone_stats_t *stats)
{
    const adm_figures_t *figures = &stats->figures;
    apr_uint64_t waited = figures->outcomes[ADM_DRY_QUEUED];
    apr_uint64_t full = figures->outcomes[ADM_DRY_FULL];
    apr_uint64_t late = figures->outcomes[ADM_DRY_LATE];
    apr_uint64_t admitted = figures->outcomes[ADM_ADMITTED];

    admission_page_words_write(
        r, "ok",
        "Dry run: no request waits. With limit %u and queue %u, of "
        "%" APR_UINT64_T_FMT " requests %" APR_UINT64_T_FMT
        " would have waited, %s on average, and %" APR_UINT64_T_FMT
        " would have been rejected: full %" APR_UINT64_T_FMT
        ", late %" APR_UINT64_T_FMT ".",
        stats->limit, stats->queue_length, admitted + waited + full + late,
        waited,
        admission_page_words_time(
            p, waited ? (adm_usec_t)(figures->dry_wait_usec / waited) : 0),
        full + late, full, late);
}

/* Write states that last until an administrator or a program ends them. */
static void write_mode(request_rec *r, apr_pool_t *p,
                       const admission_view_t *view)
{
    const adm_zone_stats_t *stats = &view->stats;

    if (view->zone->dry_run) {
        write_dry_run(r, p, stats);
    }
    if (stats->mode == ADM_MODE_PAUSE) {
        admission_page_words_write(
            r, "bad",
            "Paused by an administrator: requests wait until the mode is set to "
            "open.");
    }
    else if (stats->mode == ADM_MODE_DRAIN) {
        admission_page_words_write(
            r, "bad",
            "Draining, set by an administrator: new requests are rejected until "
            "the mode is set to open.");
    }
    if (stats->orphans > 0) {
        admission_page_words_write(
            r, "",
            "%s held by programs whose request or child process has ended, "
            "until the programs exit.",
            count_of(p, stats->orphans, "permit is", "permits are"));
    }
    if (stats->is_overridden) {
        admission_page_words_write(
            r, "",
            "An administrator has overridden the configuration (limit %d, "
            "queue %d). To make the change permanent, edit the "
            "configuration.",
            view->zone->limit, view->zone->queue->length);
    }
}

static void write_traffic(request_rec *r, apr_pool_t *p,
                          const admission_view_t *view,
                          const adm_history_t *history)
{
    const adm_zone_stats_t *stats = &view->stats;
    int full = seconds_full(history, stats->queue_length);
    apr_uint64_t rejected = admission_page_words_rejected(history, 60);

    if (full > 0) {
        admission_page_words_write(
            r, "bad",
            "The queue has been full for %d s; %s rejected. The requests "
            "below hold the permits. Raise MaxConcurrent only if enough "
            "memory is free.",
            full,
            count_of(p, admission_page_words_rejected(history, full),
                     "request was", "requests were"));
    }
    else if (rejected > 0) {
        admission_page_words_write(
            r, "bad",
            "%s rejected in the last minute. The reasons are "
            "below.",
            count_of(p, rejected, "request was", "requests were"));
    }
    else if (stats->queued > 0) {
        admission_page_words_write(
            r, "",
            "%s waiting, the oldest for %s. None were rejected in "
            "the last minute.",
            count_of(p, stats->queued, "request is", "requests are"),
            admission_page_words_time(p, stats->oldest_wait_usec));
    }
    else if (!was_used(stats)) {
        admission_page_words_write(r, "", "Not used since httpd started.");
    }
    else {
        admission_page_words_write(r, "ok", "No requests are waiting.");
    }
}

/* Write the memory of programs that have exited, and how many more fit into
 * memory. */
static void write_memory(request_rec *r, apr_pool_t *p,
                         const admission_view_t *view)
{
    const adm_account_t *account = &view->stats.figures.account;
    apr_uint64_t most = adm_spread_percentile(&account->peak_kb, 95);
    apr_uint64_t available = view->stats.available_kb;

    if (account->count == 0 || most == 0) {
        return;
    }
    admission_page_words_write(
        r, "",
        "Programs used %s of memory on average, 95 %% of them at most %s%s.",
        admission_page_words_size(p, account->peak_kb.sum / account->count),
        admission_page_words_size(p, most),
        available
            ? apr_psprintf(p,
                           ": %" APR_UINT64_T_FMT
                           " more such programs fit into the %s of free memory",
                           available / most,
                           admission_page_words_size(p, available))
            : "");
}

void admission_page_words_write_parts(request_rec *r, apr_pool_t *p,
                                      const admission_view_t *view)
{
    int part;

    for (part = 0; part < ADMISSION_PARTS_NUMBER; part++) {
        if (admission_parts[part]->write_sentences) {
            admission_parts[part]->write_sentences(r, p, view);
        }
    }
}

void admission_page_words_write_problems(request_rec *r, apr_pool_t *p,
                                         const admission_view_t *view,
                                         const adm_history_t *history)
{
    if (view->is_busy) {
        admission_page_words_write(
            r, "bad",
            "Locked by a stopped process. Requests wait up to 1 s for the lock "
            "and then run without a limit. See the error log.");
        return;
    }
    write_mode(r, p, view);
    write_traffic(r, p, view, history);
    admission_page_words_write_parts(r, p, view);
    write_memory(r, p, view);
}
