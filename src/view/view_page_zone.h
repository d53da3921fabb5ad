/* view_page_zone.h - everything of one zone, for people. */
#ifndef VIEW_PAGE_ZONE_H
#define VIEW_PAGE_ZONE_H

#include "module/conf.h"

/** Write what is wrong, the chart, who runs and waits, all numbers.
 *  @param can_order  with forms that change limit, queue and mode. */
void admission_page_zone_write(request_rec *r, apr_pool_t *p,
                               const admission_zone_t *zone, bool can_order);

#endif
