/* view_page_chart.h - the last ten minutes of a zone, drawn. */
#ifndef VIEW_PAGE_CHART_H
#define VIEW_PAGE_CHART_H

#include <httpd.h>

#include "core/adm.h"

/** Draw them with axes: how many ran and waited in each second. */
void admission_page_chart_write(request_rec *r, uint32_t limit,
                                const adm_history_t *history);

/** Draw those that ran and waited in a few pixels. */
void admission_page_chart_spark(request_rec *r, const adm_history_t *history);

#endif
