/* view_page.h - the parts of the live page. Each file has one. */
#ifndef VIEW_PAGE_H
#define VIEW_PAGE_H

#include "view_fields.h"

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
