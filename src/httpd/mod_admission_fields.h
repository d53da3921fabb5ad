/* mod_admission_fields.h - every fact that the module shows, once.
 *
 * The HTML table, ?auto, JSON and Prometheus all come from these tables; the
 * manual lists the same fields. t/guards/fields.t compares the manual with
 * them, t/httpd/505-fields.t what a running server shows.
 */
#ifndef MOD_ADMISSION_FIELDS_H
#define MOD_ADMISSION_FIELDS_H

#include "mod_admission_private.h"

typedef enum admission_kind_t {
    ADMISSION_GAUGE,      /* goes up and down */
    ADMISSION_GAUGE_MSEC, /* the same, a time in milliseconds */
    ADMISSION_COUNTER     /* only grows while the server runs */
} admission_kind_t;

/** What one look at a zone sees. */
typedef struct admission_view_t {
    const admission_zone_t *zone;
    adm_zone_stats_t stats;
    int is_busy; /* its lock could not be had: there are no figures */
} admission_view_t;

typedef struct admission_field_t {
    const char *name;   /* in ?auto, behind "Admission[n]" or "Admission" */
    const char *title;  /* in tables */
    const char *json;   /* key */
    const char *metric; /* Prometheus, without unit and "_total" */
    const char *reason; /* value of the label "reason"; NULL: no label */
    const char *help;
    admission_kind_t kind;
    apr_int64_t (*of_zone)(const admission_view_t *view);
    apr_int64_t (*of_server)(const adm_server_stats_t *server);
} admission_field_t;

extern const admission_field_t admission_zone_fields[];
extern const int admission_zone_fields_count;

extern const admission_field_t admission_server_fields[];
extern const int admission_server_fields_count;

/** Look at all zones and the server, dead children taken care of. @return the
 *  views, of admission_view_t, in @a p. */
const apr_array_header_t *admission_look(apr_pool_t *p,
                                         adm_server_stats_t *server);

#endif
