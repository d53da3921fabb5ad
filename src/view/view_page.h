/* view_page.h - the live page. */
#ifndef VIEW_PAGE_H
#define VIEW_PAGE_H

#include "module/conf.h"

/** Write the page. @param only  everything of this zone; NULL: overview of the
 *  zones that have @a filter in their name, or of all if it is NULL */
int admission_page_write(request_rec *r, const admission_zone_t *only,
                         const char *filter);

/** Write the style and the script of the page. */
int admission_page_style(request_rec *r);
int admission_page_script(request_rec *r);

#endif
