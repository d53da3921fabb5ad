/* fair_page.h - table of a zone's keys, on the live page. */
#ifndef FAIR_PAGE_H
#define FAIR_PAGE_H

#include "module/conf.h"

/** Write the table; nothing if the zone has no keys. Waits briefly for the
 *  zone's lock. */
void admission_page_keys_write(request_rec *r, apr_pool_t *p,
                               const admission_zone_t *zone);

#endif
