/* conf.h - what the configuration says, and its defaults. */
#ifndef MODULE_CONF_H
#define MODULE_CONF_H

#include <httpd.h>
#include <http_config.h>

#include <ap_expr.h>

#include "core/adm.h"

#include "auto/auto_conf.h"
#include "nice/nice_conf.h"
#include "recycle/recycle_conf.h"
#include "spool/spool_conf.h"

extern module AP_MODULE_DECLARE_DATA admission_module;

/* One number a call site, never used again; docs/log-messages.md has them. */
#define ADMLOGNO(n) "ADM" #n ": "

/** For what few requests need, in a hook that all of them go through: were it
 *  inlined there, all would save the registers that it uses. */
#define ADMISSION_NOT_INLINED __attribute__((noinline))

/** The handler of the status pages. */
#define ADMISSION_STATUS_HANDLER "admission-status"

/** The same, and orders by POST. */
#define ADMISSION_CONTROL_HANDLER "admission-control"

/** Largest numbers that a zone may have. */
#define ADMISSION_LIMIT_MAX 65535
#define ADMISSION_QUEUE_MAX 65535

/** Longest name of a zone, in bytes. */
#define ADMISSION_NAME_MAX 255

/** A zone of this configuration. */
typedef struct admission_zone_t {
    const char *name;
    const char *place;        /* file:line of the MaxConcurrent that made it */
    const char *second_place; /* of the next one of this zone; NULL: none */
    int further_places;       /* how many there are after that */
    admission_limit_t said;   /* by MaxConcurrent */
    /* Its number; of one that finds itself the maximum, known when the workers
     * are. */
    int limit;
    /* Where no request says otherwise. */
    int queue_length;
    adm_usec_t queue_timeout;
    adm_usec_t queue_target; /* 0: off */
    bool says_queue; /* one of its sections does, not only their surroundings */
    bool dry_run;
    /* What applies in its section as far as the files tell. */
    const struct admission_dir_conf_t *apparent;
    bool uses_flows;   /* some requests of it say key, cost or priority */
    bool is_fleet;     /* its limit is that of all servers of the engine */
    adm_zone_t handle; /* idx 0: the zone table was full */
} admission_zone_t;

/** MaxConcurrent and AdmissionZone of one section: shared by all that inherit
 *  them. */
typedef struct admission_section_t {
    admission_limit_t said; /* ADMISSION_NO_NUMBER: only AdmissionZone */
    const char *zone_name;  /* of AdmissionZone; NULL: the section's own */
    bool is_fleet;          /* it says so */
    const char *place;      /* file:line of MaxConcurrent, else AdmissionZone */
    const char *name;       /* as in the zone's name; NULL: no usable one */
    bool is_regex;          /* it has a regular expression in it */
    bool is_ambiguous; /* another one of the server has the same: no name */
    const server_rec *server;
    const struct admission_dir_conf_t *own; /* what the section says besides */
    admission_zone_t *zone; /* set by admission_zones_settle() */
} admission_section_t;

/** What no directive has set. */
#define ADMISSION_UNSET (-1)
#define ADMISSION_DEFAULT_QUEUE_LENGTH 100
#define ADMISSION_DEFAULT_REJECT_STATUS HTTP_SERVICE_UNAVAILABLE
#define ADMISSION_DEFAULT_QUEUE_TIMEOUT (30 * ADM_USEC_PER_SEC)

typedef enum admission_retry_t {
    ADMISSION_RETRY_UNSET = -1,
    ADMISSION_RETRY_AUTO,
    ADMISSION_RETRY_OFF,
    ADMISSION_RETRY_FIXED
} admission_retry_t;

/** What AdmissionFair tells requests apart by. */
typedef enum admission_key_kind_t {
    ADMISSION_KEY_OFF,
    ADMISSION_KEY_CLIENT,
    ADMISSION_KEY_HOST,
    ADMISSION_KEY_USER,
    ADMISSION_KEY_EXPRESSION
} admission_key_kind_t;

typedef struct admission_fair_t {
    const char *text; /* as it was written */
    admission_key_kind_t kind;
    int bits;  /* of an address of IPv4 */
    int bits6; /* of one of IPv6 */
    const ap_expr_info_t *expression;
    int max; /* permits of a key; 0: any number */
} admission_fair_t;

/** A line of AdmissionPriority or AdmissionCost. */
typedef struct admission_rule_t {
    int value; /* adm_priority_t, or a number of permits */
    const ap_expr_info_t *expression; /* NULL: always */
} admission_rule_t;

/** Per-directory configuration. Merging copies pointers and numbers only, but for
 *  actions. */
typedef struct admission_dir_conf_t {
    admission_section_t *section;       /* NULL: unset */
    int queue_length;                   /* -1: unset */
    adm_usec_t queue_timeout;           /* -1: unset */
    adm_usec_t queue_target;            /* -1: unset, 0: off */
    const apr_array_header_t *handlers; /* of const char *; NULL: unset */
    const ap_expr_info_t *exempt;       /* NULL: unset */
    int reject_status;                  /* -1: unset */
    admission_retry_t retry;
    int retry_seconds;              /* of ADMISSION_RETRY_FIXED */
    int dry_run;                    /* -1: unset */
    const admission_fair_t *fair;   /* NULL: unset */
    apr_array_header_t *priorities; /* of admission_rule_t; NULL: unset */
    apr_array_header_t *costs;      /* the same */
    spool_conf_t spool;
    int nice;             /* 0 to 19; NICE_CONF_UNSET */
    apr_table_t *actions; /* of mod_actions: handler, type or method, and the
                           * script that it leads to; NULL: none */
    /* The directives of the <Location> sections among those merged here, alone; NULL:
     * there are none. Its own `location` and `actions` are not used. */
    const struct admission_dir_conf_t *location;
} admission_dir_conf_t;

/** Of the main server. */
typedef struct admission_server_conf_t {
    int reserve; /* -1: unset */
    bool reserve_is_percent;
    const char *reserve_place; /* file:line; NULL: unset */
    int parking;               /* -1: unset */
    recycle_conf_t recycle;
    const char *state_file; /* NULL: unset; "": off */
    spool_server_conf_t spool;
    const struct engine_provider_t *engine; /* NULL: none */
    const struct engine_address_t *engine_address;
    adm_usec_t lease;        /* 0: unset */
    adm_usec_t hold;         /* 0: auto */
    adm_fallback_t fallback; /* ADM_FALLBACK_NONE: unset */
} admission_server_conf_t;

/** httpd's functions for the configuration of sections and servers. */
void *admission_conf_create_dir(apr_pool_t *p, char *path);

void *admission_conf_merge_dir(apr_pool_t *p, void *base, void *add);

void *admission_conf_create_server(apr_pool_t *p, server_rec *s);

/** @return the directives of @a add merged over those of @a base, allocated from
 *  @a p, without `actions` and `location`. */
admission_dir_conf_t *admission_conf_merge(apr_pool_t *p,
                                           const admission_dir_conf_t *base,
                                           const admission_dir_conf_t *add);

/** @return the zone of this configuration; NULL where nothing is limited. */
static inline admission_zone_t *
admission_conf_zone(const admission_dir_conf_t *conf)
{
    return conf->section ? conf->section->zone : NULL;
}

/** @return whether the handler of a request is called so. Inline, as nearly all are
 *  called otherwise from the first letter on. */
static inline bool admission_conf_is_handler(const request_rec *r,
                                             const char *name)
{
    return *r->handler == *name && strcmp(r->handler, name) == 0;
}

/* What applies to a request with this configuration: its own sections, else what
 * others of its zone say, else the default. */

/** @return how many requests may wait when this one comes. */
static inline int admission_conf_queue_length(const admission_dir_conf_t *conf)
{
    const admission_zone_t *zone = admission_conf_zone(conf);

    return conf->queue_length != ADMISSION_UNSET ? conf->queue_length
           : zone                                ? zone->queue_length
                  : ADMISSION_DEFAULT_QUEUE_LENGTH;
}

/** @return how long this one may wait. */
static inline adm_usec_t
admission_conf_queue_timeout(const admission_dir_conf_t *conf)
{
    const admission_zone_t *zone = admission_conf_zone(conf);

    return conf->queue_timeout != ADMISSION_UNSET ? conf->queue_timeout
           : zone                                 ? zone->queue_timeout
                  : ADMISSION_DEFAULT_QUEUE_TIMEOUT;
}

/** @return the wait that the queue is kept below, as AdmissionQueue says; 0: off. */
static inline adm_usec_t
admission_conf_queue_target(const admission_dir_conf_t *conf)
{
    const admission_zone_t *zone = admission_conf_zone(conf);

    return conf->queue_target != ADMISSION_UNSET ? conf->queue_target
           : zone                                ? zone->queue_target
                                                 : 0;
}

/** @return the status of one that is rejected. */
static inline int admission_conf_reject_status(const admission_dir_conf_t *conf)
{
    return conf->reject_status != ADMISSION_UNSET
               ? conf->reject_status
               : ADMISSION_DEFAULT_REJECT_STATUS;
}

/** @return whether what would be decided is only counted. */
static inline bool admission_conf_is_dry_run(const admission_dir_conf_t *conf)
{
    return conf->dry_run == 1;
}

/** @return whether AdmissionParking is On. */
bool admission_conf_parks(server_rec *s);

#endif
