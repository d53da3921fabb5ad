/* view_fields.h - all facts that the module shows, once each.
 *
 * ?auto, the page, JSON and Prometheus all come from these tables; the
 * manual lists the same fields. t/guards/fields.t compares the manual with
 * them, t/httpd/505-fields.t what a running server shows.
 */
#ifndef VIEW_FIELDS_H
#define VIEW_FIELDS_H

#include "module/conf.h"

typedef enum admission_kind_t {
    ADMISSION_GAUGE,      /* goes up and down */
    ADMISSION_GAUGE_USEC, /* the same, a time in microseconds */
    ADMISSION_GAUGE_MSEC, /* in milliseconds */
    ADMISSION_GAUGE_SEC,  /* a time in seconds */
    ADMISSION_GAUGE_BYTES,
    ADMISSION_GAUGE_KB, /* memory in KiB */
    ADMISSION_GAUGE_MB, /* memory in MiB */
    ADMISSION_GAUGE_PERCENT,
    ADMISSION_COUNTER, /* only grows while the server runs */
    ADMISSION_WORDS    /* words for readers, numbers in formats that allow only
                     * numbers */
} admission_kind_t;

/** Zones for which a field has information; for others it is zero, or the
 *  limit. Fields of the server are of any, or of a fleet: of a server that has
 *  an engine. */
typedef enum admission_of_t {
    ADMISSION_OF_ANY,
    ADMISSION_OF_DRY_RUN,
    ADMISSION_OF_AUTO,
    ADMISSION_OF_PROGRAMS, /* a program with known resource usage has ended */
    ADMISSION_OF_FLEET
} admission_of_t;

/** Unit of the numbers of a kind. */
typedef struct admission_unit_t {
    const char *name;   /* suffix of the field's name */
    const char *metric; /* suffix of its metric: the base unit */
    int times, per;     /* in the base unit: number * times / per */
} admission_unit_t;

/** Sample of one zone. */
typedef struct admission_view_t {
    const admission_zone_t *zone;
    adm_zone_stats_t stats;
    bool is_busy; /* its lock was not free: no figures */
} admission_view_t;

typedef struct admission_field_t {
    /* "QueuedMax": in ?auto behind "Admission[n]" or "Admission". The key of JSON is
     * "queuedMax", the metric "queued_max" and what the kind adds. */
    const char *name;
    const char *
        reason; /* "full": the metric is "rejected", with this label; or NULL */
    const char *help;
    admission_kind_t kind;
    const char *(*word)(apr_int64_t value); /* of ADMISSION_WORDS */
    admission_of_t of;
    apr_int64_t (*of_zone)(const admission_view_t *view);
    apr_int64_t (*of_server)(const adm_server_stats_t *server);
} admission_field_t;

/** @return field number @a n of a zone, of the trunk or of a capability; NULL: there are no
 *  more. */
const admission_field_t *admission_fields_of_zone(int n);

/** @return field number @a n of the server, of the trunk or of a capability;
 *  NULL: there are no more. */
const admission_field_t *admission_fields_of_server(int n);

/* A list of fields is a macro of rows, row(name, reason, kind, of, help, value), which is
 * expanded twice. The value is an expression of "view", or of "server". */
#define ADMISSION_ZONE_VALUE(name, reason, kind, of, help, value) \
    static apr_int64_t zone_##name(const admission_view_t *view)  \
    {                                                             \
        return (apr_int64_t)(value);                              \
    }

#define ADMISSION_ZONE_ROW(name, reason, a_kind, an_of, help, value) \
    { #name,                                                         \
      reason,                                                        \
      help,                                                          \
      .kind = ADMISSION_##a_kind,                                    \
      .of = ADMISSION_OF_##an_of,                                    \
      .of_zone = zone_##name },

/** The kind of a field whose values have words. */
#define ADMISSION_WORD(function) ADMISSION_WORDS, .word = function

#define ADMISSION_SERVER_VALUE(name, reason, kind, of, help, value)    \
    static apr_int64_t server_##name(const adm_server_stats_t *server) \
    {                                                                  \
        return (apr_int64_t)(value);                                   \
    }

#define ADMISSION_SERVER_ROW(name, reason, a_kind, an_of, help, value) \
    { #name,                                                           \
      reason,                                                          \
      help,                                                            \
      .kind = ADMISSION_##a_kind,                                      \
      .of = ADMISSION_OF_##an_of,                                      \
      .of_server = server_##name },

/** @return the unit of a kind; a unit without a name if the kind has none. */
const admission_unit_t *admission_fields_unit(admission_kind_t kind);

/** @return whether a field has information about this zone. Formats with a
 *  fixed set of fields show the others, too. */
bool admission_fields_tells(const admission_field_t *field,
                            const admission_view_t *view);

/** @return the word for a value; NULL if the value is a number. */
const char *admission_fields_word(const admission_field_t *field,
                                  apr_int64_t value);

/** Write a value: its word, or the number. */
void admission_fields_write(request_rec *r, const admission_field_t *field,
                            apr_int64_t value);

/** Sample the server, after reclaiming from dead children. Call before the
 *  zones. */
void admission_fields_look_at_server(adm_server_stats_t *server);

/** Sample one zone; @a history: its last ten minutes, too, or NULL. There can
 *  be thousands of zones: an output samples one, writes it and discards it, so
 *  that a slow reader holds no memory. */
void admission_fields_look_at(const admission_zone_t *zone,
                              admission_view_t *view, adm_history_t *history);

/** @return @a only, as an array in @a p; all zones if it is NULL. */
const apr_array_header_t *admission_fields_zones(apr_pool_t *p,
                                                 const admission_zone_t *only);

/** @return the zone of this name, as configured or as displayed; NULL: none. */
const admission_zone_t *admission_fields_find_zone(apr_pool_t *p,
                                                   const char *name);

#endif
