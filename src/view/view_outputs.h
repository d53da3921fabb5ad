/* view_outputs.h - the outputs of the module, each in a file of its own. */
#ifndef VIEW_OUTPUTS_H
#define VIEW_OUTPUTS_H

#include "module/conf.h"

/** SetHandler admission-status, or admission-control without an override: the
 *  live page, ?json and ?prometheus. */
int admission_handler_status(request_rec *r);

/** Log that the handler does not come from the server's configuration. @return
 *  the status of the response. */
int admission_handler_refuse_page(request_rec *r);

/* The outputs, selected by the query. @a only: the requested zone; NULL: all. */

/** Write the live page: everything of the zone, or an overview of the zones that
 *  have @a filter in their name, or of all if it is NULL. */
int admission_page_write(request_rec *r, const admission_zone_t *only,
                         const char *filter);

/** Write "style" or "script" of the page. @return DECLINED for another name. */
int admission_page_constant(request_rec *r, const char *name);

/** Data to write for each zone in addition to its fields. */
typedef enum admission_json_with_t {
    ADMISSION_WITH_NOTHING,
    ADMISSION_WITH_HISTORY, /* its last ten minutes */
    ADMISSION_WITH_REQUESTS /* running and waiting requests */
} admission_json_with_t;

int admission_json_write(request_rec *r, const admission_zone_t *only,
                         admission_json_with_t with);

/** Write a text as a JSON string. */
void admission_json_string(request_rec *r, const char *utf8);

int admission_prometheus_write(request_rec *r, const admission_zone_t *only);

/** Respond with 200; or with 503 with the reason and the name of the first zone
 *  that rejects new requests or keeps them waiting beyond its target. */
int admission_probe_write(request_rec *r, const admission_zone_t *only);

/** Hook of server-status: one line per zone; with ?auto, one per field. */
int admission_server_status(request_rec *r, int flags);

#endif
