/* view_page_who.h - who runs and waits in a zone, for people. */
#ifndef VIEW_PAGE_WHO_H
#define VIEW_PAGE_WHO_H

#include "module/conf.h"

/** Write a table of some dozens, those that run first, the oldest first. */
void admission_page_who_write(request_rec *r, apr_pool_t *p,
                              const admission_zone_t *zone);

#endif
