/* zones.c - turn sections into zones.
 *
 * Runs in check_config, when every ServerName is known. check_config also runs
 * for `configtest` and DUMP_ADMISSION.
 */
#include <httpd.h>
#include <apr_hash.h>
#include <apr_escape.h>
#include <apr_sha1.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>

#include "sections.h"
#include "zones.h"

/* Length that a too long name is cut to; 219 bytes with the digest. */
#define BEGINNING_LENGTH 200
#define DIGEST_BYTES 8

APLOG_USE_MODULE(admission);

static apr_array_header_t *zones;

static apr_hash_t *zones_by_name;

const apr_array_header_t *admission_zones(void)
{
    return zones;
}

void admission_zones_begin(apr_pool_t *pconf)
{
    admission_sections_begin(pconf);
    zones = apr_array_make(pconf, 8, sizeof(admission_zone_t *));
    zones_by_name = apr_hash_make(pconf);
}

static admission_zone_t *find_zone(const char *name)
{
    return apr_hash_get(zones_by_name, name, APR_HASH_KEY_STRING);
}

static bool makes_zone(const admission_section_t *section)
{
    return section->max_concurrent.number > 0
           || section->max_concurrent.is_auto;
}

/* AdmissionZone without MaxConcurrent: another section sets the limit. */
static bool joins_zone(const admission_section_t *section)
{
    return section->max_concurrent.number == ADMISSION_NO_NUMBER;
}

/* Mark sections of one server with the same regular expression: their common
 * name does not identify either of them. */
static void mark_ambiguous(apr_pool_t *p)
{
    apr_hash_t *seen = apr_hash_make(p);
    int i;

    for (i = 0; i < admission_sections_all()->nelts; i++) {
        admission_section_t *section = APR_ARRAY_IDX(admission_sections_all(),
                                                     i, admission_section_t *);
        admission_section_t *first;
        const char *place;

        if (!makes_zone(section) || !section->is_regex || section->zone_name
            || !section->name) {
            continue;
        }
        place = apr_psprintf(p, "%pp %s", (const void *)section->server,
                             section->name);
        first = apr_hash_get(seen, place, APR_HASH_KEY_STRING);
        if (first) {
            first->is_ambiguous = section->is_ambiguous = true;
        }
        else {
            apr_hash_set(seen, place, APR_HASH_KEY_STRING, section);
        }
    }
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
    if (!section->name || section->is_ambiguous) {
        return NULL;
    }
    return shorten(p,
                   apr_pstrcat(p, admission_sections_server(p, section->server),
                               ":", section->name, NULL));
}

/* The configuration of a section, as far as the configuration files show: its
 * own directives over the server's. */
static const admission_dir_conf_t *
apparent_conf(apr_pool_t *p, const admission_section_t *section)
{
    admission_dir_conf_t *outer = ap_get_module_config(
        section->server->lookup_defaults, &admission_module);

    return admission_conf_merge_dir(p, outer, (void *)section->own);
}

static admission_zone_t *add_zone(apr_pool_t *p, const char *name,
                                  const admission_section_t *section)
{
    const admission_dir_conf_t *conf = apparent_conf(p, section);
    admission_zone_t *zone = apr_pcalloc(p, sizeof(*zone));

    zone->name = name;
    zone->place = section->place;
    zone->max_concurrent = section->max_concurrent;
    /* Without a maximum, until admission_zones_bound() sets it. */
    zone->limit = section->max_concurrent.number
                      ? section->max_concurrent.number
                      : ADMISSION_LIMIT_MAX;
    zone->queue_length = admission_conf_queue_length(conf);
    zone->sets_queue = section->own->queue_length >= 0;
    zone->queue_timeout = admission_conf_queue_timeout(conf);
    zone->queue_target = admission_conf_queue_target(conf);
    zone->dry_run = admission_conf_is_dry_run(conf);
    zone->apparent = conf;
    APR_ARRAY_PUSH(zones, admission_zone_t *) = zone;
    apr_hash_set(zones_by_name, name, APR_HASH_KEY_STRING, zone);
    return zone;
}

static int refuse(server_rec *s, const char *message)
{
    ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_EMERG, 0, s, "%s", message);
    return HTTP_INTERNAL_SERVER_ERROR;
}

static void note_place(admission_zone_t *zone, const char *place)
{
    if (zone->second_place) {
        zone->further_places++;
    }
    else {
        zone->second_place = place;
    }
}

/* A zone has one queue: the queue that one section sets applies to sections
 * that set none. @return false if two sections set different queues. */
static bool settle_queue(admission_zone_t *zone,
                         const admission_dir_conf_t *own)
{
    if (own->queue_length < 0) {
        return true;
    }
    if (zone->sets_queue
        && (zone->queue_length != own->queue_length
            || zone->queue_timeout != own->queue_timeout
            || zone->queue_target != own->queue_target)) {
        return false;
    }
    zone->queue_length = own->queue_length;
    zone->queue_timeout = own->queue_timeout;
    zone->queue_target = own->queue_target;
    zone->sets_queue = true;
    return true;
}

static int settle_limit(apr_pool_t *p, server_rec *s,
                        admission_section_t *section)
{
    const char *name = name_zone(p, section);
    admission_zone_t *zone;

    if (!name) {
        return refuse(
            s, apr_psprintf(p, ADMLOGNO(0002)
                            "MaxConcurrent: '%s' in %s is in a "
                            "section without a unique name (<If>, "
                            "or a regular expression used twice); "
                            "add AdmissionZone",
                            admission_limit_name(p, &section->max_concurrent),
                            section->place));
    }
    zone = find_zone(name);
    if (!zone) {
        zone = add_zone(p, name, section);
        section->zone = zone;
        return OK;
    }
    if (!admission_limit_is_same(&zone->max_concurrent,
                                 &section->max_concurrent)) {
        return refuse(
            s, apr_psprintf(p, ADMLOGNO(0001)
                            "MaxConcurrent: zone '%s' has %s in "
                            "%s and %s in %s; set the same limit, or "
                            "give a section its own zone with "
                            "AdmissionZone",
                            zone->name,
                            admission_limit_name(p, &zone->max_concurrent),
                            zone->place,
                            admission_limit_name(p, &section->max_concurrent),
                            section->place));
    }
    if (!settle_queue(zone, section->own)) {
        return refuse(s, apr_psprintf(p, ADMLOGNO(0004)
                                      "AdmissionQueue: zone '%s' has two "
                                      "different queues in %s and %s; set the "
                                      "same queue, or give a section its own "
                                      "zone with AdmissionZone",
                                      zone->name, zone->place, section->place));
    }
    note_place(zone, section->place);
    section->zone = zone;
    return OK;
}

static int join_zone(apr_pool_t *p, server_rec *s, admission_section_t *section)
{
    section->zone = find_zone(section->zone_name);
    if (!section->zone) {
        return refuse(s, apr_psprintf(p, ADMLOGNO(0003)
                                      "AdmissionZone: '%s' in %s has no "
                                      "limit; add MaxConcurrent here or in "
                                      "another section with this "
                                      "AdmissionZone",
                                      section->zone_name, section->place));
    }
    return OK;
}

/* A zone is shared by a group of servers if any of its sections sets
 * "fleet". */
static void settle_shares(void)
{
    int i;

    for (i = 0; i < admission_sections_all()->nelts; i++) {
        const admission_section_t *section =
            APR_ARRAY_IDX(admission_sections_all(), i, admission_section_t *);

        if (section->is_shared && section->zone) {
            section->zone->is_shared = true;
        }
    }
}

static void note_flows(admission_zone_t *zone, const admission_dir_conf_t *conf)
{
    zone->uses_flows |= fair_conf_is_used(&conf->fair);
}

/* A section that belongs to no zone applies to requests of any zone on its
 * server; on the main server, to requests of all servers. */
static void settle_inner_flows(const admission_flows_note_t *note,
                               const server_rec *main_server)
{
    int i;

    for (i = 0; i < admission_sections_all()->nelts; i++) {
        const admission_section_t *section =
            APR_ARRAY_IDX(admission_sections_all(), i, admission_section_t *);

        if (section->zone
            && (note->server == main_server || note->server == section->server
                || section->server == main_server)) {
            note_flows(section->zone, note->conf);
        }
    }
}

/* Find the zones whose requests have a key, cost or priority. One zone too many
 * only costs a little time per request. */
static void settle_flows(apr_pool_t *p, const server_rec *main_server)
{
    int i;

    for (i = 0; i < admission_sections_all()->nelts; i++) {
        const admission_section_t *section =
            APR_ARRAY_IDX(admission_sections_all(), i, admission_section_t *);

        if (section->zone) {
            note_flows(section->zone, apparent_conf(p, section));
        }
    }
    for (i = 0; i < admission_sections_flows()->nelts; i++) {
        const admission_flows_note_t *note = &APR_ARRAY_IDX(
            admission_sections_flows(), i, admission_flows_note_t);

        if (!note->is_of_server && !note->conf->section) {
            settle_inner_flows(note, main_server);
        }
    }
}

/* One message for all zones, also at configtest. */
static void warn_of_too_many(server_rec *s)
{
    /* httpd reads the configuration twice at start. */
    bool is_rehearsal = ap_state_query(AP_SQ_MAIN_STATE)
                            == AP_SQ_MS_CREATE_PRE_CONFIG
                        && ap_state_query(AP_SQ_RUN_MODE)
                               != AP_SQ_RM_CONFIG_TEST;
    const admission_zone_t *first;

    if (zones->nelts > ADMISSION_ZONES_MAX && !is_rehearsal) {
        first = APR_ARRAY_IDX(zones, ADMISSION_ZONES_MAX, admission_zone_t *);
        ap_log_error(
            APLOG_MARK, APLOG_STARTUP | APLOG_WARNING, 0, s, ADMLOGNO(0008)
            "MaxConcurrent: %d zones exceed the maximum of %d: zone %s "
            "(%s) and all after it, %d in total, have no limit; use "
            "AdmissionZone to let sections share a zone",
            zones->nelts, ADMISSION_ZONES_MAX, first->name, first->place,
            zones->nelts - ADMISSION_ZONES_MAX);
    }
}

int admission_zones_settle(apr_pool_t *pconf, apr_pool_t *plog,
                           apr_pool_t *ptemp, server_rec *s)
{
    int i, rv = OK;

    mark_ambiguous(ptemp);
    for (i = 0; i < admission_sections_all()->nelts && rv == OK; i++) {
        admission_section_t *section = APR_ARRAY_IDX(admission_sections_all(),
                                                     i, admission_section_t *);

        if (makes_zone(section)) {
            rv = settle_limit(pconf, s, section);
        }
    }
    for (i = 0; i < admission_sections_all()->nelts && rv == OK; i++) {
        admission_section_t *section = APR_ARRAY_IDX(admission_sections_all(),
                                                     i, admission_section_t *);

        if (joins_zone(section)) {
            rv = join_zone(pconf, s, section);
        }
    }
    settle_flows(ptemp, s);
    settle_shares();
    if (rv == OK) {
        warn_of_too_many(s);
    }
    return rv;
}

void admission_zones_bound(int most)
{
    int i;

    for (i = 0; i < zones->nelts; i++) {
        admission_zone_t *zone = APR_ARRAY_IDX(zones, i, admission_zone_t *);

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
