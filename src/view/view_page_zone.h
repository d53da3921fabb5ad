/* view_page_zone.h - the page of one zone. */
#ifndef VIEW_PAGE_ZONE_H
#define VIEW_PAGE_ZONE_H

#include "module/conf.h"

/** Write the problems, the chart, the running and waiting requests, all
 *  numbers. @param can_override  with forms that change limit, queue and mode. */
void admission_page_zone_write(request_rec *r, apr_pool_t *p,
                               const admission_zone_t *zone, bool can_override);

#endif
