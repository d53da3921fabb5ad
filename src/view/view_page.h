/* view_page.h - the parts of the live page. Each file has one. */
#ifndef VIEW_PAGE_H
#define VIEW_PAGE_H

#include "view_fields.h"

/* ---- view_page_words.c --------------------------------------------------- */

/** State of a zone; states that need attention come first. */
typedef enum admission_page_state_t {
    ADMISSION_PAGE_STUCK,
    ADMISSION_PAGE_REJECTS,
    ADMISSION_PAGE_PAUSED,
    ADMISSION_PAGE_DRAINS,
    ADMISSION_PAGE_WAITS,
    ADMISSION_PAGE_RUNS,
    ADMISSION_PAGE_IDLE,
    ADMISSION_PAGE_UNUSED,
    ADMISSION_PAGE_STATES
} admission_page_state_t;

admission_page_state_t admission_page_words_state(const admission_view_t *view,
                                                  const adm_history_t *history);

/** @return a state as a word. */
const char *admission_page_words_state_name(admission_page_state_t state);

/** @return a time with its unit: 45 ms, 3.4 s, 2 min 5 s. */
const char *admission_page_words_time(apr_pool_t *p, adm_usec_t usec);

/** @return a size in KiB with its unit: 512 KB, 1.4 MB, 81 MB. */
const char *admission_page_words_size(apr_pool_t *p, apr_uint64_t kb);

/** @return the upper bound of that many percent of the durations, at the
 *  resolution of the histogram; "-" if there are none. */
const char *admission_page_words_percentile(apr_pool_t *p,
                                            const adm_durations_t *durations,
                                            unsigned percent);

/** @return the number of requests that were rejected in the last seconds. */
apr_uint64_t admission_page_words_rejected(const adm_history_t *history,
                                           int seconds);

/** Write a sentence of @a kind, "bad", "ok" or "", with the format of
 *  apr_psprintf(). It is not escaped. */
void admission_page_words_write(request_rec *r, const char *kind,
                                const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Write the sentences of capabilities about a zone; about the server if @a view
 *  is NULL. */
void admission_page_words_write_parts(request_rec *r, apr_pool_t *p,
                                      const admission_view_t *view);

/** Write the problems of a zone and their remedies; or that there are none. */
void admission_page_words_write_problems(request_rec *r, apr_pool_t *p,
                                         const admission_view_t *view,
                                         const adm_history_t *history);

/* ---- view_page_overview.c ------------------------------------------------ */

/** Write the filter and the table of the zones with @a filter in their name;
 *  zones that need attention come first. */
void admission_page_overview_write(request_rec *r, const char *filter);

/* ---- view_page_zone.c ---------------------------------------------------- */

/** Write the problems, the chart, the running and waiting requests, all
 *  numbers. @param can_override  with forms that change limit, queue and mode. */
void admission_page_zone_write(request_rec *r, apr_pool_t *p,
                               const admission_zone_t *zone, bool can_override);

/* ---- view_page_facts.c --------------------------------------------------- */

/** Write the numbers of a zone that are not 0, a fold for each group. */
void admission_page_facts_zone(request_rec *r, apr_pool_t *p,
                               const admission_facts_t *facts);

/** Write the number of rejected requests by reason, if there are any. */
void admission_page_facts_reasons(request_rec *r,
                                  const admission_facts_t *facts);

/** Write the numbers of the server that are not 0. */
void admission_page_facts_server(request_rec *r,
                                 const admission_facts_t *facts);

/** Write a warning for each fault of the whole server. */
void admission_page_facts_trouble(request_rec *r,
                                  const adm_server_stats_t *server);

/* ---- view_page_chart.c --------------------------------------------------- */

/** Draw the chart with axes: running and waiting requests in each second. */
void admission_page_chart_write(request_rec *r, uint32_t limit,
                                const adm_history_t *history);

/** Draw running and waiting requests in a few pixels. */
void admission_page_chart_spark(request_rec *r, const adm_history_t *history);

/* ---- view_page_who.c ----------------------------------------------------- */

/** Write a table of some dozens: running requests first, and the oldest
 *  first. */
void admission_page_who_write(request_rec *r, apr_pool_t *p,
                              const admission_zone_t *zone);

#endif
