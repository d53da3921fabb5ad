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
#include "parse.h"
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

/** Maximum length of a zone name, in bytes. */
#define ADMISSION_NAME_MAX 255

/** A zone: a limit and its queue. One per configuration load. */
typedef struct admission_zone_t {
    const char *name;
    const char *place;        /* file:line of the MaxConcurrent that defines the
                               * zone */
    const char *second_place; /* file:line of the next one; NULL: none */
    int places;               /* how many MaxConcurrent there are */
    admission_limit_t max_concurrent; /* as set by MaxConcurrent */
    /* The limit. For an automatic limit the maximum, which is set once the
     * number of workers is known. */
    int limit;
    const admission_queue_t *queue; /* for requests whose sections set none */
    /* Section that sets AdmissionQueue; NULL: only the enclosing one does. */
    const char *queue_place;
    bool dry_run;
    /* The directives that apply in the zone's section, as far as the
     * configuration files show. For warnings and the list of zones. */
    const struct admission_dir_conf_t *apparent;
    bool uses_flows;   /* some requests have a key, cost or priority */
    bool is_shared;    /* the limit is shared by a group of servers: a section
                        * of the zone has "fleet" */
    adm_zone_t handle; /* idx 0: no limit, the zone table was full */
    struct admission_zone_t *next; /* in the order of the files; NULL: none */
} admission_zone_t;

/** MaxConcurrent and AdmissionZone of one section. Merged configurations share
 *  a pointer to it. */
typedef struct admission_section_t {
    admission_limit_t
        max_concurrent;    /* ADMISSION_NO_NUMBER: only AdmissionZone is set */
    const char *zone_name; /* set by AdmissionZone; NULL: named after the
                             * section */
    bool is_shared;        /* AdmissionZone has the option "fleet" */
    const char *place;     /* file:line of MaxConcurrent, otherwise of
                             * AdmissionZone */
    const char *name;      /* the section in the zone's name; NULL: no usable
                             * name */
    const server_rec *server;
    const struct admission_dir_conf_t *own; /* all directives of the section */
    admission_zone_t *zone; /* set by admission_zones_settle() */
    struct admission_section_t
        *next; /* in the order of the files; NULL: none */
} admission_section_t;

/** Value of a number that no directive sets. */
#define ADMISSION_UNSET (-1)
#define ADMISSION_DEFAULT_QUEUE_LENGTH 100
#define ADMISSION_DEFAULT_REJECT_STATUS HTTP_SERVICE_UNAVAILABLE
#define ADMISSION_DEFAULT_QUEUE_TIMEOUT (30 * ADM_USEC_PER_SEC)

/** Values of retry-after= in AdmissionReject that are no number of seconds. */
#define ADMISSION_RETRY_AUTO 0
#define ADMISSION_RETRY_OFF (-2)

/** Per-directory configuration. A merge copies pointers and numbers, except for
 *  `actions`, whose tables are overlaid. */
typedef struct admission_dir_conf_t {
    admission_section_t *section;       /* NULL: unset */
    const admission_queue_t *queue;     /* NULL: unset */
    const apr_array_header_t *handlers; /* of const char *; NULL: unset */
    const ap_expr_info_t *exempt;       /* NULL: unset */
    const char *exempt_place;           /* file:line of AdmissionExempt */
    int reject_status;                  /* -1: unset */
    int retry;   /* seconds, ADMISSION_RETRY_AUTO or _OFF; -1: unset */
    int dry_run; /* -1: unset */
    fair_conf_t fair;
    spool_conf_t spool;
    apr_table_t *actions; /* Action of mod_actions: handler or type -> script;
                           * NULL: none */
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

/** The table of directives. */
extern const command_rec admission_directives[];

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

/** @return the queue of a request with this configuration, which has a zone. */
static inline const admission_queue_t *
admission_conf_queue(const admission_dir_conf_t *conf)
{
    return conf->queue ? conf->queue : admission_conf_zone(conf)->queue;
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
