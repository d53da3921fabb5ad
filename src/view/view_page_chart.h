/* view_page_chart.h - chart of the last ten minutes of a zone. */
#ifndef VIEW_PAGE_CHART_H
#define VIEW_PAGE_CHART_H

#include <httpd.h>

#include "core/adm.h"

/** Draw the chart with axes: running and waiting requests in each second. */
void admission_page_chart_write(request_rec *r, uint32_t limit,
                                const adm_history_t *history);

/** Draw running and waiting requests in a few pixels. */
void admission_page_chart_spark(request_rec *r, const adm_history_t *history);

#endif
