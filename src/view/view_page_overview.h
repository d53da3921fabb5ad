/* view_page_overview.h - all zones, one row per zone. */
#ifndef VIEW_PAGE_OVERVIEW_H
#define VIEW_PAGE_OVERVIEW_H

#include <httpd.h>

/** Write the filter and the table of the zones with @a filter in their name;
 *  zones that need attention come first. */
void admission_page_overview_write(request_rec *r, const char *filter);

#endif
