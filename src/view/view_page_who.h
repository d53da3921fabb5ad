/* mod_admission_page_who.h - who runs and waits in a zone, for people. */
#ifndef MOD_ADMISSION_PAGE_WHO_H
#define MOD_ADMISSION_PAGE_WHO_H

#include "module/conf.h"

/** Write a table of some dozens, those that run first, the oldest first. */
void admission_page_who_write(request_rec *r, apr_pool_t *p,
                              const admission_zone_t *zone);

#endif
