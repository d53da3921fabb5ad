/* view_json.h - output for programs: JSON. */
#ifndef VIEW_JSON_H
#define VIEW_JSON_H

#include "module/conf.h"

/** Data to write for each zone in addition to its fields. */
typedef enum admission_json_with_t {
    ADMISSION_WITH_NOTHING,
    ADMISSION_WITH_HISTORY, /* its last ten minutes */
    ADMISSION_WITH_REQUESTS /* running and waiting requests */
} admission_json_with_t;

/** @param only  the requested zone; NULL: all */
int admission_json_write(request_rec *r, const admission_zone_t *only,
                         admission_json_with_t with);

/** Write a text as a JSON string. */
void admission_json_string(request_rec *r, const char *utf8);

#endif
