/* mod_admission_page.h - the live page for people. */
#ifndef MOD_ADMISSION_PAGE_H
#define MOD_ADMISSION_PAGE_H

#include "config/mod_admission_conf.h"

/** What of the page is asked for. */
typedef struct admission_page_query_t {
    const admission_zone_t *only; /* everything of this zone; NULL: overview */
    const char *filter; /* of the zones that have this in their name; or NULL */
    bool all;           /* of all zones, however many there are */
    int refresh;        /* seconds until it is to come again; 0: never */
} admission_page_query_t;

/** Write the page. */
int admission_page_write(request_rec *r, const admission_page_query_t *query);

/** Write its style, its script. */
int admission_page_style(request_rec *r);
int admission_page_script(request_rec *r);

#endif
