/* conf.h - the configuration: structs, defaults and accessors. */
#ifndef MODULE_CONF_H
#define MODULE_CONF_H

#include <httpd.h>
#include <http_config.h>

#include <ap_expr.h>

#include "core/adm.h"

#include "auto/auto_conf.h"
#include "fair/fair_conf.h"
#include "fleet/fleet_conf.h"
#include "limit.h"
#include "nice/nice_conf.h"
#include "recycle/recycle_conf.h"
#include "spool/spool_conf.h"

extern module AP_MODULE_DECLARE_DATA admission_module;

/* Number of a log message. Each call site has its own, listed in
 * docs/log-messages.md; a number is never reused. */
#define ADMLOGNO(n) "ADM" #n ": "

/** For the rare path of a hook that every request goes through. Inlined, its
 *  register saves would slow down all requests. */
#define ADMISSION_NOT_INLINED __attribute__((noinline))

/** Handler of the status pages. */
#define ADMISSION_STATUS_HANDLER "admission-status"

/** Handler of the status pages that also accepts overrides by POST. */
#define ADMISSION_CONTROL_HANDLER "admission-control"

/** Largest limit and queue length of a zone. */
#define ADMISSION_LIMIT_MAX 65535
#define ADMISSION_QUEUE_MAX 65535

/** Maximum length of a zone name, in bytes. */
#define ADMISSION_NAME_MAX 255

/** A zone: a limit and its queue. One per configuration load. */
typedef struct admission_zone_t {
    const char *name;
    const char *place;        /* file:line of the MaxConcurrent that defines the
                               * zone */
    const char *second_place; /* file:line of the next one; NULL: none */
    int further_places;       /* how many MaxConcurrent follow those two */
    admission_limit_t max_concurrent; /* its arguments */
    /* The limit. For an automatic limit the maximum, which is set once the
     * number of workers is known. */
    int limit;
    /* Defaults of the zone, for requests whose sections set nothing. */
    int queue_length;
    adm_usec_t queue_timeout;
    adm_usec_t queue_target; /* 0: off */
    bool sets_queue; /* a section of the zone sets AdmissionQueue, not only the
                      * sections around it */
    bool dry_run;
    /* The directives that apply in the zone's section, as far as the
     * configuration files show. For warnings and the list of zones. */
    const struct admission_dir_conf_t *apparent;
    bool uses_flows;   /* some requests have a key, cost or priority */
    bool is_shared;    /* the limit is shared by a group of servers */
    adm_zone_t handle; /* idx 0: no limit, the zone table was full */
} admission_zone_t;

/** MaxConcurrent and AdmissionZone of one section. Merged configurations share
 *  a pointer to it. */
typedef struct admission_section_t {
    admission_limit_t max_concurrent; /* ADMISSION_NO_NUMBER: not set */
    const char *zone_name; /* set by AdmissionZone; NULL: named after the
                             * section */
    bool is_shared;        /* AdmissionZone has the option "fleet" */
    const char *place;     /* file:line of MaxConcurrent, otherwise of
                             * AdmissionZone */
    const char *name;      /* the section in the zone's name; NULL: no usable
                             * name */
    bool is_regex;         /* the section's name has a regular expression */
    bool is_ambiguous; /* another section of this server has the same name */
    const server_rec *server;
    const struct admission_dir_conf_t *own; /* all directives of the section */
    admission_zone_t *zone; /* set by admission_zones_settle() */
} admission_section_t;

/** Value of a number that no directive sets. */
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

/** Per-directory configuration. A merge copies pointers and numbers, except for
 *  `actions`, whose tables are overlaid. */
typedef struct admission_dir_conf_t {
    admission_section_t *section;       /* NULL: unset */
    int queue_length;                   /* -1: unset */
    adm_usec_t queue_timeout;           /* -1: unset */
    adm_usec_t queue_target;            /* -1: unset, 0: off */
    const apr_array_header_t *handlers; /* of const char *; NULL: unset */
    const ap_expr_info_t *exempt;       /* NULL: unset */
    int reject_status;                  /* -1: unset */
    admission_retry_t retry;
    int retry_seconds; /* if retry is ADMISSION_RETRY_FIXED */
    int dry_run;       /* -1: unset */
    fair_conf_t fair;
    spool_conf_t spool;
    int nice;             /* 0 to 19; NICE_CONF_UNSET */
    apr_table_t *actions; /* Action and Script of mod_actions: handler, type or
                           * method -> script; NULL: none */
    /* The directives of only the <Location> sections that were merged here;
     * NULL: none. Its own `location` and `actions` are not used. */
    const struct admission_dir_conf_t *location;
} admission_dir_conf_t;

/** Server configuration. Only the main server's is used. */
typedef struct admission_server_conf_t {
    int reserve; /* -1: unset */
    bool reserve_is_percent;
    const char *reserve_place; /* file:line; NULL: unset */
    int parking;               /* -1: unset */
    recycle_conf_t recycle;
    auto_conf_t tune;
    spool_server_conf_t spool;
    fleet_conf_t fleet;
} admission_server_conf_t;

/** Create and merge configurations. Called by httpd. */
void *admission_conf_create_dir(apr_pool_t *p, char *path);

void *admission_conf_merge_dir(apr_pool_t *p, void *base, void *add);

void *admission_conf_create_server(apr_pool_t *p, server_rec *s);

/** Merge two sets of directives, @a add over @a base, except `actions`
 *  and `location`. @return the result, allocated from @a p. */
admission_dir_conf_t *admission_conf_merge(apr_pool_t *p,
                                           const admission_dir_conf_t *base,
                                           const admission_dir_conf_t *add);

/** @return the zone of this configuration; NULL: no limit applies. */
static inline admission_zone_t *
admission_conf_zone(const admission_dir_conf_t *conf)
{
    return conf->section ? conf->section->zone : NULL;
}

/** @return whether the request has this handler. Inline, because nearly all
 *  names differ in their first letter. */
static inline bool admission_conf_is_handler(const request_rec *r,
                                             const char *name)
{
    return *r->handler == *name && strcmp(r->handler, name) == 0;
}

/* Settings of a request with this configuration. Its own sections take
 * precedence over the zone's defaults, and these over the module's. */

/** @return the queue length up to which a request with this configuration joins the
 *  queue. */
static inline int admission_conf_queue_length(const admission_dir_conf_t *conf)
{
    const admission_zone_t *zone = admission_conf_zone(conf);

    return conf->queue_length != ADMISSION_UNSET ? conf->queue_length
           : zone                                ? zone->queue_length
                  : ADMISSION_DEFAULT_QUEUE_LENGTH;
}

/** @return how long the request may wait. */
static inline adm_usec_t
admission_conf_queue_timeout(const admission_dir_conf_t *conf)
{
    const admission_zone_t *zone = admission_conf_zone(conf);

    return conf->queue_timeout != ADMISSION_UNSET ? conf->queue_timeout
           : zone                                 ? zone->queue_timeout
                  : ADMISSION_DEFAULT_QUEUE_TIMEOUT;
}

/** @return AdmissionQueue target=: the wait that the queue should stay below;
 *  0: off. */
static inline adm_usec_t
admission_conf_queue_target(const admission_dir_conf_t *conf)
{
    const admission_zone_t *zone = admission_conf_zone(conf);

    return conf->queue_target != ADMISSION_UNSET ? conf->queue_target
           : zone                                ? zone->queue_target
                                                 : 0;
}

/** @return the status of a rejected request. */
static inline int admission_conf_reject_status(const admission_dir_conf_t *conf)
{
    return conf->reject_status != ADMISSION_UNSET
               ? conf->reject_status
               : ADMISSION_DEFAULT_REJECT_STATUS;
}

/** @return whether decisions are only counted, not enforced. */
static inline bool admission_conf_is_dry_run(const admission_dir_conf_t *conf)
{
    return conf->dry_run == 1;
}

/** @return whether AdmissionParking is On. */
bool admission_conf_parks(server_rec *s);

#endif
