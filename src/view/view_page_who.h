/* view_page_who.h - the running and waiting requests of a zone, on the page. */
#ifndef VIEW_PAGE_WHO_H
#define VIEW_PAGE_WHO_H

#include "module/conf.h"

/** Write a table of some dozens: running requests first, and the oldest
 *  first. */
void admission_page_who_write(request_rec *r, apr_pool_t *p,
                              const admission_zone_t *zone);

#endif
