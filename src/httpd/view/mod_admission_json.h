/* mod_admission_json.h - the facts for programs: JSON. */
#ifndef MOD_ADMISSION_JSON_H
#define MOD_ADMISSION_JSON_H

#include "config/mod_admission_conf.h"

/** @param only  the zone that is asked for; NULL: all */
int admission_json_write(request_rec *r, const admission_zone_t *only,
                         int with_history);

#endif
