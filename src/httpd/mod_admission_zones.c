/* mod_admission_zones.c - which zones a configuration has, and their names.
 *
 * Settled in check_config, when every ServerName is known; also what
 * `configtest` and DUMP_ADMISSION run.
 */
#include <httpd.h>
#include <apr_hash.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_main.h>

#include "mod_admission_private.h"

APLOG_USE_MODULE(admission);

/* ---- names of sections ------------------------------------------------------------------- */

static int is_section(const ap_directive_t *directive, const char *name)
{
    return strcasecmp(directive->directive, name) == 0;
}

/* <LocationMatch x> says the same as <Location ~ x>. */
static int is_match(const ap_directive_t *section)
{
    apr_size_t length = strlen(section->directive);

    return length > 5
           && strcasecmp(section->directive + length - 5, "Match") == 0;
}

/* "/cgi-bin/" of <Location "/cgi-bin/">, "~x" of <Location ~ x>, with the kind
 * of the section in front where that is not a <Location>. NULL for <If> and its
 * like: no text names them. */
static const char *name_section(apr_pool_t *p, const ap_directive_t *section,
                                int *is_regex)
{
    const char *args = apr_pstrdup(p, section->args ? section->args : "");
    char *bracket = strrchr(args, '>');
    apr_size_t kind = strlen(section->directive + 1);
    const char *arg, *tilde = "";

    if (bracket && bracket[1] == '\0') {
        *bracket = '\0';
    }
    arg = ap_getword_conf(p, &args);
    if (is_match(section)) {
        kind -= 5;
        tilde = "~";
    }
    else if (strcmp(arg, "~") == 0) {
        arg = ap_getword_conf(p, &args);
        tilde = "~";
    }
    *is_regex |= *tilde != '\0';
    if (kind == 8 && strncasecmp(section->directive, "<Location", 9) == 0) {
        return apr_pstrcat(p, tilde, arg, NULL);
    }
    if (is_section(section, "<If") || is_section(section, "<ElseIf")
        || is_section(section, "<Else")) {
        return NULL;
    }
    return apr_psprintf(p, "%.*s:%s%s", (int)kind, section->directive + 1,
                        tilde, arg);
}

/* The path of sections around a directive, outermost first; "*" outside of
 * any; NULL if one of them has no name. <IfModule> and its like are not among
 * them: httpd reads on in their place. */
static const char *name_place(apr_pool_t *p, const ap_directive_t *directive,
                              int *is_regex)
{
    const ap_directive_t *section;
    const char *name = NULL;

    for (section = directive->parent; section; section = section->parent) {
        const char *outer;

        if (is_section(section, "<VirtualHost")) {
            continue;
        }
        outer = name_section(p, section, is_regex);
        if (!outer) {
            return NULL;
        }
        name = name ? apr_pstrcat(p, outer, " ", name, NULL) : outer;
    }
    return name ? name : "*";
}

static const char *name_server(apr_pool_t *p, const server_rec *s)
{
    if (s->server_hostname) {
        return s->server_hostname;
    }
    return s->is_virtual && s->addrs
               ? apr_psprintf(p, "%s:%d", s->addrs->virthost,
                              (int)s->addrs->host_port)
               : "main";
}

/* ---- what the directives say --------------------------------------------------------------- */

/* Of the configuration being read: admission_limit_t *, admission_zone_t *. */
static apr_array_header_t *limits;
static apr_array_header_t *zones;
static apr_hash_t *zones_by_name;

const apr_array_header_t *admission_zones(void)
{
    return zones;
}

const char *admission_place_of(const cmd_parms *cmd)
{
    return apr_psprintf(cmd->pool, "%s:%d", cmd->directive->filename,
                        cmd->directive->line_num);
}

admission_limit_t *admission_note_limit(cmd_parms *cmd,
                                        admission_dir_conf_t *conf)
{
    admission_limit_t *limit = conf->limit;

    if (!limit) {
        limit = apr_pcalloc(cmd->pool, sizeof(*limit));
        limit->number = ADMISSION_NO_NUMBER;
        limit->place = admission_place_of(cmd);
        limit->section = name_place(cmd->pool, cmd->directive,
                                    &limit->is_regex);
        limit->server = cmd->server;
        limit->own = conf;
        conf->limit = limit;
        APR_ARRAY_PUSH(limits, admission_limit_t *) = limit;
    }
    return limit;
}

/* ---- settling ------------------------------------------------------------------- */

int admission_pre_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp)
{
    (void)plog;
    (void)ptemp;
    limits = apr_array_make(pconf, 8, sizeof(admission_limit_t *));
    zones = apr_array_make(pconf, 8, sizeof(admission_zone_t *));
    zones_by_name = apr_hash_make(pconf);
    admission_room_pre_config(pconf);
    return OK;
}

static admission_zone_t *find_zone(const char *name)
{
    return apr_hash_get(zones_by_name, name, APR_HASH_KEY_STRING);
}

static int makes_zone(const admission_limit_t *limit)
{
    return limit->number > 0;
}

/* AdmissionZone without MaxConcurrent: the limit is said elsewhere. */
static int joins_zone(const admission_limit_t *limit)
{
    return limit->number == ADMISSION_NO_NUMBER;
}

/* A regular expression twice in one server is not one place. */
static void mark_ambiguous(apr_pool_t *p)
{
    apr_hash_t *seen = apr_hash_make(p);
    int i;

    for (i = 0; i < limits->nelts; i++) {
        admission_limit_t *limit = APR_ARRAY_IDX(limits, i,
                                                 admission_limit_t *);
        admission_limit_t *first;
        const char *place;

        if (!makes_zone(limit) || !limit->is_regex || limit->zone_name
            || !limit->section) {
            continue;
        }
        place = apr_psprintf(p, "%pp %s", (const void *)limit->server,
                             limit->section);
        first = apr_hash_get(seen, place, APR_HASH_KEY_STRING);
        if (first) {
            first->is_ambiguous = limit->is_ambiguous = 1;
        }
        else {
            apr_hash_set(seen, place, APR_HASH_KEY_STRING, limit);
        }
    }
}

static const char *name_zone(apr_pool_t *p, const admission_limit_t *limit)
{
    if (limit->zone_name) {
        return limit->zone_name;
    }
    if (!limit->section || limit->is_ambiguous) {
        return NULL;
    }
    return apr_pstrcat(p, name_server(p, limit->server), ":", limit->section,
                       NULL);
}

/* What applies in the limit's section as far as the files tell: its own, else
 * the server's. */
static const admission_dir_conf_t *apparent_conf(apr_pool_t *p,
                                                 const admission_limit_t *limit)
{
    admission_dir_conf_t *outer =
        ap_get_module_config(limit->server->lookup_defaults, &admission_module);

    return admission_merge_dir_conf(p, outer, (void *)limit->own);
}

static admission_zone_t *add_zone(apr_pool_t *p, const char *name,
                                  const admission_limit_t *limit)
{
    const admission_dir_conf_t *conf = apparent_conf(p, limit);
    admission_zone_t *zone = apr_pcalloc(p, sizeof(*zone));

    zone->name = name;
    zone->place = limit->place;
    zone->limit = limit->number;
    zone->queue_length = admission_queue_length(conf);
    zone->says_queue = limit->own->queue_length >= 0;
    zone->queue_timeout = admission_queue_timeout(conf);
    zone->dry_run = admission_is_dry_run(conf);
    APR_ARRAY_PUSH(zones, admission_zone_t *) = zone;
    apr_hash_set(zones_by_name, name, APR_HASH_KEY_STRING, zone);
    return zone;
}

static int refuse(server_rec *s, const char *message)
{
    ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_EMERG, 0, s, "%s", message);
    return HTTP_INTERNAL_SERVER_ERROR;
}

/* A zone has one line: what one section says of it holds for those that say
 * nothing. */
static int settle_queue(admission_zone_t *zone, const admission_dir_conf_t *own)
{
    if (own->queue_length < 0) {
        return OK;
    }
    if (zone->says_queue
        && (zone->queue_length != own->queue_length
            || zone->queue_timeout != own->queue_timeout)) {
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    zone->queue_length = own->queue_length;
    zone->queue_timeout = own->queue_timeout;
    zone->says_queue = 1;
    return OK;
}

static int settle_limit(apr_pool_t *p, server_rec *s, admission_limit_t *limit)
{
    const char *name = name_zone(p, limit);
    admission_zone_t *zone;

    if (!name) {
        return refuse(s, apr_psprintf(p, ADMLOGNO(0002)
                                      "MaxConcurrent: '%d' in %s stands in "
                                      "a section without a name of its "
                                      "own (<If>, or a regular expression "
                                      "used twice); AdmissionZone must "
                                      "give one",
                                      limit->number, limit->place));
    }
    zone = find_zone(name);
    if (!zone) {
        zone = add_zone(p, name, limit);
    }
    else if (zone->limit != limit->number) {
        return refuse(s, apr_psprintf(p, ADMLOGNO(0001)
                                      "MaxConcurrent: zone '%s' has %d in "
                                      "%s and %d in %s; one zone has one "
                                      "number, and AdmissionZone gives a "
                                      "section a zone of its own",
                                      zone->name, zone->limit, zone->place,
                                      limit->number, limit->place));
    }
    else if (settle_queue(zone, limit->own) != OK) {
        return refuse(s, apr_psprintf(p, ADMLOGNO(0004)
                                      "AdmissionQueue: zone '%s' has two "
                                      "different lines in %s and %s; one "
                                      "zone has one line, and "
                                      "AdmissionZone gives a section a "
                                      "zone of its own",
                                      zone->name, zone->place, limit->place));
    }
    limit->zone = zone;
    return OK;
}

static int join_zone(apr_pool_t *p, server_rec *s, admission_limit_t *limit)
{
    limit->zone = find_zone(limit->zone_name);
    if (!limit->zone) {
        return refuse(s, apr_psprintf(p, ADMLOGNO(0003)
                                      "AdmissionZone: '%s' in %s is the "
                                      "name of no zone; MaxConcurrent "
                                      "must stand beside it, here or in "
                                      "another section of that name",
                                      limit->zone_name, limit->place));
    }
    return OK;
}

int admission_check_config(apr_pool_t *pconf, apr_pool_t *plog,
                           apr_pool_t *ptemp, server_rec *s)
{
    int i, rv = OK;

    (void)plog;
    mark_ambiguous(ptemp);
    for (i = 0; i < limits->nelts && rv == OK; i++) {
        admission_limit_t *limit = APR_ARRAY_IDX(limits, i,
                                                 admission_limit_t *);

        if (makes_zone(limit)) {
            rv = settle_limit(pconf, s, limit);
        }
    }
    for (i = 0; i < limits->nelts && rv == OK; i++) {
        admission_limit_t *limit = APR_ARRAY_IDX(limits, i,
                                                 admission_limit_t *);

        if (joins_zone(limit)) {
            rv = join_zone(pconf, s, limit);
        }
    }
    return rv;
}

void admission_dump_config(apr_pool_t *pconf, server_rec *s)
{
    apr_file_t *out = NULL;
    admission_room_t room;
    int i;

    if (!ap_exists_config_define("DUMP_ADMISSION")) {
        return;
    }
    apr_file_open_stdout(&out, pconf);
    apr_file_printf(out, "Admission zones:\n");
    room = admission_room(s);
    if (room.requests) {
        apr_file_printf(out,
                        "  room to park: %" APR_INT64_T_FMT
                        " requests in %d children at start, %" APR_INT64_T_FMT
                        " in %d at most\n",
                        room.requests_at_start, room.children_at_start,
                        room.requests, room.children);
    }
    for (i = 0; i < zones->nelts; i++) {
        const admission_zone_t *zone = APR_ARRAY_IDX(zones, i,
                                                     admission_zone_t *);

        apr_file_printf(out,
                        "  %s limit %d queue %d timeout %" APR_TIME_T_FMT
                        "ms waiting %s%s (%s)\n",
                        zone->name, zone->limit, zone->queue_length,
                        apr_time_as_msec(zone->queue_timeout),
                        admission_would_park(s) ? "parked" : "blocked",
                        zone->dry_run ? " dry run" : "", zone->place);
    }
}
