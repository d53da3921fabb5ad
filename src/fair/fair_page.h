/* mod_admission_page_keys.h - the keys that take turns in a zone, on the page. */
#ifndef MOD_ADMISSION_PAGE_KEYS_H
#define MOD_ADMISSION_PAGE_KEYS_H

#include "module/conf.h"

/** Write the keys that hold and await most, nothing for a zone without any. Waits
 *  briefly for the zone. */
void admission_page_keys_write(request_rec *r, apr_pool_t *p,
                               const admission_zone_t *zone);

#endif
