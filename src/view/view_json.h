/* view_json.h - the facts for programs: JSON. */
#ifndef VIEW_JSON_H
#define VIEW_JSON_H

#include "module/conf.h"

/** What is written of each zone beside its fields. */
typedef enum admission_json_with_t {
    ADMISSION_WITH_NOTHING,
    ADMISSION_WITH_HISTORY, /* its last ten minutes */
    ADMISSION_WITH_REQUESTS /* who runs and who waits */
} admission_json_with_t;

/** @param only  the zone that is asked for; NULL: all */
int admission_json_write(request_rec *r, const admission_zone_t *only,
                         admission_json_with_t with);

/** Write a text as a string of JSON. */
void admission_json_string(request_rec *r, const char *utf8);

#endif
