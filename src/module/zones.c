/* zones.c - the sections that set a limit, and the zones that they form.
 *
 * Zones are made in check_config, when every ServerName is known. check_config
 * also runs for `configtest` and DUMP_ADMISSION.
 */
#include <httpd.h>
#include <apr_hash.h>
#include <apr_escape.h>
#include <apr_sha1.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>

#include "conf_tree.h"
#include "zones.h"

/* Length that a too long name is cut to; 219 bytes with the digest. */
#define BEGINNING_LENGTH 200
#define DIGEST_BYTES 8

APLOG_USE_MODULE(admission);

/* ---- names --------------------------------------------------------------- */

/* @return the names of the sections around a directive, outermost first; "*"
 * outside of sections; NULL if one of them has no name. <IfModule> and the like
 * are not in the tree. */
static const char *name_place(apr_pool_t *p, const ap_directive_t *directive)
{
    const ap_directive_t *section;
    const char *name = NULL;

    for (section = directive->parent; section; section = section->parent) {
        const char *outer;

        if (admission_conf_tree_is(section, "<VirtualHost")) {
            continue;
        }
        outer = admission_conf_tree_section(p, section);
        if (!outer) {
            return NULL;
        }
        name = name ? apr_pstrcat(p, outer, " ", name, NULL) : outer;
    }
    return name ? name : "*";
}

const char *admission_zones_server(apr_pool_t *p, const server_rec *s)
{
    if (s->server_hostname) {
        return s->server_hostname;
    }
    return s->is_virtual && s->addrs
               ? apr_psprintf(p, "%s:%d", s->addrs->virthost,
                              (int)s->addrs->host_port)
               : "main";
}

/* ---- records of the directives ------------------------------------------- */

/* Sections of the configuration being read. */
static admission_section_t *first_section, **sections_end;

/* A section with AdmissionFair, AdmissionPriority or AdmissionCost. */
typedef struct flows_note_t {
    const server_rec *server;
    const admission_dir_conf_t *conf;
    bool is_of_server; /* outside of any section: inherited by all sections */
} flows_note_t;

static apr_array_header_t *flows; /* of flows_note_t */

admission_section_t *admission_zones_sections(void)
{
    return first_section;
}

/* The directives outside of sections. httpd's merge makes a new record. */
static admission_dir_conf_t *conf_of_server(const server_rec *s)
{
    return ap_get_module_config(s->lookup_defaults, &admission_module);
}

void admission_zones_note_flows(cmd_parms *cmd,
                                const admission_dir_conf_t *conf)
{
    flows_note_t note = { cmd->server, conf,
                          conf == conf_of_server(cmd->server) };

    APR_ARRAY_PUSH(flows, flows_note_t) = note;
}

const char *admission_zones_place(const cmd_parms *cmd)
{
    return apr_psprintf(cmd->pool, "%s:%d", cmd->directive->filename,
                        cmd->directive->line_num);
}

admission_section_t *admission_zones_note_section(cmd_parms *cmd,
                                                  admission_dir_conf_t *conf)
{
    admission_section_t *section = conf->section;

    if (!section) {
        section = apr_pcalloc(cmd->pool, sizeof(*section));
        section->max_concurrent.number = ADMISSION_NO_NUMBER;
        section->place = admission_zones_place(cmd);
        section->name = name_place(cmd->pool, cmd->directive);
        section->server = cmd->server;
        section->own = conf;
        conf->section = section;
        *sections_end = section;
        sections_end = &section->next;
    }
    return section;
}

/* ---- zones --------------------------------------------------------------- */

static admission_zone_t *first_zone, **zones_end;

static apr_hash_t *zones_by_name;

admission_zone_t *admission_zones(void)
{
    return first_zone;
}

int admission_zones_count(void)
{
    return (int)apr_hash_count(zones_by_name);
}

void admission_zones_begin(apr_pool_t *pconf)
{
    first_section = NULL;
    sections_end = &first_section;
    flows = apr_array_make(pconf, 8, sizeof(flows_note_t));
    first_zone = NULL;
    zones_end = &first_zone;
    zones_by_name = apr_hash_make(pconf);
}

static admission_zone_t *find_zone(const char *name)
{
    return apr_hash_get(zones_by_name, name, APR_HASH_KEY_STRING);
}

/* Shorten a zone's name, which can contain a regular expression of any length,
 * but is used in URLs, logs and labels. The result has the start of the name,
 * without a cut UTF-8 character, and a digest of the whole name. */
static const char *shorten(apr_pool_t *p, const char *name)
{
    unsigned char digest[APR_SHA1_DIGESTSIZE];
    apr_sha1_ctx_t sha1;
    int end = BEGINNING_LENGTH;

    if (strlen(name) <= ADMISSION_NAME_MAX) {
        return name;
    }
    while (end > BEGINNING_LENGTH - 4 && (name[end] & 0xc0) == 0x80) {
        end--;
    }
    apr_sha1_init(&sha1);
    apr_sha1_update(&sha1, name, (unsigned)strlen(name));
    apr_sha1_final(digest, &sha1);
    return apr_psprintf(p, "%.*s...%s", end, name,
                        apr_pescape_hex(p, digest, DIGEST_BYTES, 0));
}

static const char *name_zone(apr_pool_t *p, const admission_section_t *section)
{
    if (section->zone_name) {
        return section->zone_name;
    }
    if (!section->name) {
        return NULL;
    }
    return shorten(p, apr_pstrcat(p, admission_zones_server(p, section->server),
                                  ":", section->name, NULL));
}

static const admission_queue_t default_queue = {
    .length = ADMISSION_DEFAULT_QUEUE_LENGTH,
    .timeout = ADMISSION_DEFAULT_QUEUE_TIMEOUT
};

static admission_zone_t *add_zone(apr_pool_t *p, const char *name,
                                  const admission_section_t *section)
{
    /* The section's own directives over the server's. */
    const admission_dir_conf_t *conf = admission_conf_merge_dir(
        p, conf_of_server(section->server), (void *)section->own);
    admission_zone_t *zone = apr_pcalloc(p, sizeof(*zone));

    zone->name = name;
    zone->place = section->place;
    zone->places = 1;
    zone->max_concurrent = section->max_concurrent;
    /* Without a maximum, until admission_zones_bound() sets it. */
    zone->limit = section->max_concurrent.number
                      ? section->max_concurrent.number
                      : ADMISSION_LIMIT_MAX;
    zone->queue = conf->queue ? conf->queue : &default_queue;
    zone->queue_place = section->own->queue ? section->place : NULL;
    zone->dry_run = admission_conf_is_dry_run(conf);
    zone->apparent = conf;
    *zones_end = zone;
    zones_end = &zone->next;
    apr_hash_set(zones_by_name, name, APR_HASH_KEY_STRING, zone);
    return zone;
}

/* A zone has one queue: the queue that one section sets applies to sections
 * that set none. @return false if two sections set different queues. */
static bool settle_queue(admission_zone_t *zone,
                         const admission_section_t *section)
{
    const admission_queue_t *own = section->own->queue;

    if (!own) {
        return true;
    }
    if (zone->queue_place
        && (zone->queue->length != own->length
            || zone->queue->timeout != own->timeout
            || zone->queue->target != own->target)) {
        return false;
    }
    zone->queue = own;
    zone->queue_place = section->place;
    return true;
}

/* Make a section's zone, or add it to one that has the same limit and queue.
 * @return an error message; NULL: none. */
static const char *settle_limit(apr_pool_t *p, admission_section_t *section)
{
    const char *name = name_zone(p, section);
    const char *limit = admission_limit_name(p, &section->max_concurrent);
    admission_zone_t *zone;

    if (!name) {
        return apr_psprintf(
            p, ADMLOGNO(0002)
            "MaxConcurrent %s in %s: its section has no name (<If>); add "
            "AdmissionZone next to it",
            limit, section->place);
    }
    zone = find_zone(name);
    section->zone = zone ? zone : add_zone(p, name, section);
    if (!zone) {
        return NULL;
    }
    if (!admission_limit_is_same(&zone->max_concurrent,
                                 &section->max_concurrent)) {
        return apr_psprintf(
            p, ADMLOGNO(0001)
            "MaxConcurrent: zone '%s' has %s in %s and %s in %s; set the same "
            "limit, or give a section its own zone with AdmissionZone",
            name, admission_limit_name(p, &zone->max_concurrent), zone->place,
            limit, section->place);
    }
    if (!settle_queue(zone, section)) {
        return apr_psprintf(
            p, ADMLOGNO(0004)
            "AdmissionQueue: zone '%s' has one queue in %s and another in %s; "
            "set the same values, or give a section its own zone with "
            "AdmissionZone",
            name, zone->queue_place, section->place);
    }
    if (++zone->places == 2) {
        zone->second_place = section->place;
    }
    return NULL;
}

static const char *join_zone(apr_pool_t *p, admission_section_t *section)
{
    section->zone = find_zone(section->zone_name);
    return section->zone
               ? NULL
               : apr_psprintf(p, ADMLOGNO(0003)
                              "AdmissionZone: '%s' in %s has no limit; add "
                              "MaxConcurrent here or in another section with "
                              "this AdmissionZone",
                              section->zone_name, section->place);
}

/* Find the zones whose requests have a key, cost or priority: the section's own
 * zone; if it has none, or is outside of sections, all zones of its server; if
 * that is the main server, all zones. One zone too many only costs a little
 * time per request. */
static void settle_flows(const server_rec *main_server)
{
    admission_section_t *section;
    int i;

    for (i = 0; i < flows->nelts; i++) {
        const flows_note_t *note = &APR_ARRAY_IDX(flows, i, flows_note_t);

        if (note->conf->section && !note->is_of_server) {
            if (note->conf->section->zone) {
                note->conf->section->zone->uses_flows = true;
            }
            continue;
        }
        for (section = first_section; section; section = section->next) {
            if (section->zone
                && (note->server == main_server
                    || note->server == section->server
                    || section->server == main_server)) {
                section->zone->uses_flows = true;
            }
        }
    }
}

bool admission_zones_is_rehearsal(void)
{
    return ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG
           && ap_state_query(AP_SQ_RUN_MODE) != AP_SQ_RM_CONFIG_TEST;
}

/* One message for all zones, also at configtest. */
static void warn_of_too_many(server_rec *s)
{
    const admission_zone_t *first = first_zone;
    int i, zones = admission_zones_count();

    if (zones > ADMISSION_ZONES_MAX && !admission_zones_is_rehearsal()) {
        for (i = 0; i < ADMISSION_ZONES_MAX; i++) {
            first = first->next;
        }
        ap_log_error(
            APLOG_MARK, APLOG_STARTUP | APLOG_WARNING, 0, s, ADMLOGNO(0008)
            "MaxConcurrent: %d zones exceed the maximum of %d: zone %s "
            "(%s) and all after it, %d in total, have no limit; use "
            "AdmissionZone to let sections share a zone, then stop and start "
            "httpd",
            zones, ADMISSION_ZONES_MAX, first->name, first->place,
            zones - ADMISSION_ZONES_MAX);
    }
}

int admission_zones_settle(apr_pool_t *pconf, apr_pool_t *plog,
                           apr_pool_t *ptemp, server_rec *s)
{
    admission_section_t *section;
    const char *error = NULL;

    /* First all zones: a section can join one that is set after it. */
    for (section = first_section; section && !error; section = section->next) {
        if (section->max_concurrent.is_auto
            || section->max_concurrent.number > 0) {
            error = settle_limit(pconf, section);
        }
    }
    for (section = first_section; section && !error; section = section->next) {
        if (section->max_concurrent.number == ADMISSION_NO_NUMBER) {
            error = join_zone(pconf, section);
        }
        if (section->zone) {
            section->zone->is_shared |= section->is_shared;
        }
    }
    if (error) {
        ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_EMERG, 0, s, "%s",
                     error);
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    settle_flows(s);
    warn_of_too_many(s);
    return OK;
}

void admission_zones_bound(int most)
{
    admission_zone_t *zone;

    for (zone = first_zone; zone; zone = zone->next) {
        if (zone->max_concurrent.is_auto && zone->max_concurrent.number == 0) {
            zone->limit = most > zone->max_concurrent.min
                              ? most
                              : zone->max_concurrent.min;
        }
    }
}

int admission_zones_planned(const admission_zone_t *zone)
{
    return zone->max_concurrent.is_auto ? zone->max_concurrent.min
                                        : zone->limit;
}
