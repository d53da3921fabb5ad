/* fair_page.h - the keys that take turns in a zone, on the page. */
#ifndef FAIR_PAGE_H
#define FAIR_PAGE_H

#include "module/conf.h"

/** Write the keys that hold and await most, nothing for a zone without any. Waits
 *  briefly for the zone. */
void admission_page_keys_write(request_rec *r, apr_pool_t *p,
                               const admission_zone_t *zone);

#endif
