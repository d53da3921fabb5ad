/* view_fields.h - all facts that the module shows, once each.
 *
 * ?auto, the page, JSON and Prometheus are all made from these facts; the
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
    ADMISSION_COUNTER /* only grows while the server runs */
} admission_kind_t;

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

/** The constant part of a fact. */
typedef struct admission_field_t {
    /* "QueuedMax". In ?auto after "Admission" or "Admission[n]"; in JSON "queuedMax"; in
     * Prometheus "admission_queued_max", with the suffix of its unit. */
    const char *name;
    const char *reason; /* "full", a label of the metric "rejected"; or NULL */
    const char *help;
    admission_kind_t kind;
} admission_field_t;

/** A field and its value. */
typedef struct admission_fact_t {
    const admission_field_t *field;
    apr_int64_t value;
    const char *word; /* for readers, instead of the value; NULL: none */
    const char
        *group; /* title on the page. NULL: no information about this zone;
                        * formats with a fixed set of fields show the fact, too */
} admission_fact_t;

#define ADMISSION_FACTS_MAX 80

/** All facts about a zone, or about the server, at one moment. */
typedef struct admission_facts_t {
    const char *group; /* of the facts that are added next */
    int count;
    admission_fact_t fact[ADMISSION_FACTS_MAX];
} admission_facts_t;

/* Add a fact to the variable "facts": FACT(name, kind, help, value). */
#define FACT(name, kind, help, value) \
    ADMISSION_FACT(name, NULL, kind, help, value, NULL)

/* The same, shown as a word in formats that allow words. */
#define FACT_WORD(name, help, value, word) \
    ADMISSION_FACT(name, NULL, GAUGE, help, value, word)

/* A number of rejected requests. */
#define FACT_REJECTED(name, reason, value)                                \
    ADMISSION_FACT(name, reason, COUNTER, "Requests that were rejected.", \
                   value, NULL)

#define ADMISSION_FACT(name, reason, kind, help, value, word)            \
    do {                                                                 \
        static const admission_field_t field = { #name, reason, help,    \
                                                 ADMISSION_##kind };     \
        admission_fields_add(facts, &field, (apr_int64_t)(value), word); \
    } while (0)

/** Add a fact. At most ADMISSION_FACTS_MAX; others are left out. */
void admission_fields_add(admission_facts_t *facts,
                          const admission_field_t *field, apr_int64_t value,
                          const char *word);

/** Fill in the facts about a zone, of the trunk and of the capabilities: always the same
 *  fields in the same order. */
void admission_fields_of_zone(const admission_view_t *view,
                              admission_facts_t *facts);

/** Sample the server, after reclaiming from dead children, and fill in the facts
 *  about it. Call before the zones are sampled. */
void admission_fields_of_server(adm_server_stats_t *server,
                                admission_facts_t *facts);

/** @return the unit of a kind; a unit without a name if it has none. */
const admission_unit_t *admission_fields_unit(admission_kind_t kind);

/** Write a value: its word, or the number. */
void admission_fields_write(request_rec *r, const admission_fact_t *fact);

/** Sample one zone; @a history: its last ten minutes, too, or NULL. There can
 *  be thousands of zones: an output samples one, writes it and discards it, so
 *  that a slow reader holds no memory. */
void admission_fields_sample_zone(const admission_zone_t *zone,
                                  admission_view_t *view,
                                  adm_history_t *history);

/** @return the first of the zones to show: a copy of @a only, allocated from @a p;
 *  all zones if it is NULL. */
const admission_zone_t *admission_fields_zones(apr_pool_t *p,
                                               const admission_zone_t *only);

/** @return the zone of this name, as configured or as displayed; NULL: none. */
const admission_zone_t *admission_fields_find_zone(apr_pool_t *p,
                                                   const char *name);

#endif
