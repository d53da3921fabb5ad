/* view_page_overview.h - all zones, a row each. */
#ifndef VIEW_PAGE_OVERVIEW_H
#define VIEW_PAGE_OVERVIEW_H

#include <httpd.h>

/** Write the filter and the table, of zones with @a filter in their name; those first that want to be looked at. */
void admission_page_overview_write(request_rec *r, const char *filter);

#endif
