/* advice.c - errors and warnings about the configuration as a whole, and the
 * list of zones that `httpd -t -D DUMP_ADMISSION` prints.
 */
#include <httpd.h>
#include <http_config.h>
#include <http_core.h>
#include <http_log.h>

#include "part.h"
#include "conf_tree.h"
#include "zones.h"
#include "advice.h"
#include "capacity.h"
#include "countable.h"
#include "park/park_room.h"

APLOG_USE_MODULE(admission);

/* ---- directives ---------------------------------------------------------- */

static void warn_of_target(apr_pool_t *p, server_rec *s,
                           const ap_directive_t *directive)
{
    admission_queue_t queue = { .timeout = ADMISSION_DEFAULT_QUEUE_TIMEOUT };
    const char *args = directive->args;

    ap_getword_conf(p, &args);
    while (*args) {
        admission_parse_queue_option(ap_getword_conf(p, &args), &queue);
    }
    if (queue.target > queue.timeout) {
        ap_log_error(
            APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0121)
            "AdmissionQueue in %s:%d: the target of %" APR_TIME_T_FMT
            " ms is longer than the timeout of %" APR_TIME_T_FMT
            " ms: a request whose expected wait is between the two "
            "is queued, and rejected at the timeout; set a lower target",
            directive->filename, directive->line_num,
            apr_time_as_msec(queue.target), apr_time_as_msec(queue.timeout));
    }
}

/* @return whether the directive is one of sections, other than MaxConcurrent. */
static bool needs_zone(const ap_directive_t *directive)
{
    const command_rec *command = ap_find_command(directive->directive,
                                                 admission_directives);

    return command && command->req_override == (RSRC_CONF | ACCESS_CONF)
           && strcasecmp(command->name, "MaxConcurrent") != 0;
}

/* Log a warning for each directive that has no effect: settings without a
 * limit, a target longer than its timeout. */
static void warn_of_directives(apr_pool_t *p, server_rec *s)
{
    bool has_zones = admission_zones() != NULL;
    const ap_directive_t *directive;

    for (directive = ap_conftree; directive;
         directive = admission_conf_tree_next(directive)) {
        if (!has_zones && needs_zone(directive)) {
            ap_log_error(
                APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0006)
                "%s in %s:%d has no effect: no MaxConcurrent sets a limit; add "
                "one, or remove the directive",
                directive->directive, directive->filename, directive->line_num);
            return;
        }
        if (admission_conf_tree_is(directive, "AdmissionQueue")) {
            warn_of_target(p, s, directive);
        }
    }
}

/* ---- limits and the MPM ---------------------------------------------------- */

/* Warn of a limit or queue that exceeds the workers, although each number is
 * valid. Only informational for an automatic limit that can stay within them.
 */
static void warn_of_unreachable_limit(apr_pool_t *p, server_rec *s,
                                      const admission_zone_t *zone, int workers,
                                      int free_for_zones, int parks)
{
    int level = zone->max_concurrent.is_auto
                        && zone->max_concurrent.min <= free_for_zones
                    ? APLOG_INFO
                    : APLOG_WARNING;
    const char *limit = admission_limit_name(p, &zone->max_concurrent);

    if (zone->limit > workers) {
        ap_log_error(
            APLOG_MARK, level, 0, s, ADMLOGNO(0103)
            "zone %s (%s): MaxConcurrent %s exceeds MaxRequestWorkers %d and "
            "can never be reached; lower MaxConcurrent or raise "
            "MaxRequestWorkers",
            zone->name, zone->place, limit, workers);
    }
    else if (zone->limit > free_for_zones) {
        ap_log_error(
            APLOG_MARK, level, 0, s, ADMLOGNO(0104)
            "zone %s (%s): MaxConcurrent %s can never be reached: "
            "AdmissionReserve leaves %d of %d workers for zones; lower "
            "MaxConcurrent or AdmissionReserve, or raise MaxRequestWorkers",
            zone->name, zone->place, limit, free_for_zones, workers);
    }
    else if (zone->queue->length && !parks
             && zone->limit + zone->queue->length > free_for_zones) {
        ap_log_error(APLOG_MARK, level, 0, s, ADMLOGNO(0105)
                     "zone %s (%s): MaxConcurrent %s plus AdmissionQueue %d "
                     "needs %d workers, but AdmissionReserve leaves %d of %d "
                     "for zones: some requests will be rejected before the "
                     "queue is full; lower AdmissionQueue or raise %s",
                     zone->name, zone->place, limit, zone->queue->length,
                     zone->limit + zone->queue->length, free_for_zones, workers,
                     admission_room_lacks_files(s)
                         ? "the limit of open files, so that they are parked"
                         : "MaxRequestWorkers");
    }
}

/* Warn of mod_cgi with a threaded MPM, and of limits that cannot be reached. */
static void warn_of_unsuitable_mpm(apr_pool_t *p, server_rec *s)
{
    const admission_zone_t *zone = admission_zones();
    int workers = admission_capacity_workers();
    int reserved = admission_capacity_reserved(s, workers);
    int parks = admission_room_would_park(s); /* searches the configuration */

    if (zone && ap_find_linked_module("mod_cgi.c")
        && admission_capacity_is_threaded()) {
        ap_log_error(
            APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0109)
            "mod_cgi is loaded with a threaded MPM: stopping a CGI program "
            "outside a zone blocks a worker for 3 seconds, because the "
            "program inherits blocked signals; load mod_cgid instead");
    }
    for (; zone; zone = zone->next) {
        warn_of_unreachable_limit(p, s, zone, workers, workers - reserved,
                                  parks);
    }
}

void admission_advice_start(apr_pool_t *p, server_rec *s)
{
    warn_of_directives(p, s);
    admission_room_warn(s);
    warn_of_unsuitable_mpm(p, s);
    admission_countable_warn(p, s);
}

/* ---- hooks --------------------------------------------------------------- */

/* Reject a reserve of all workers. A percentage is always below 100. */
int admission_advice_check_config(apr_pool_t *pconf, apr_pool_t *plog,
                                  apr_pool_t *ptemp, server_rec *s)
{
    const admission_server_conf_t *conf =
        ap_get_module_config(s->module_config, &admission_module);
    int workers = admission_capacity_workers();

    if (conf->reserve_is_percent || conf->reserve < workers) {
        return OK;
    }
    ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_EMERG, 0, s, ADMLOGNO(0106)
                 "AdmissionReserve %d (%s) leaves no workers for zones: "
                 "MaxRequestWorkers is %d; use a number from 0 to %d or a "
                 "percentage from 0%% to 99%%",
                 conf->reserve, conf->reserve_place, workers, workers - 1);
    return HTTP_INTERNAL_SERVER_ERROR;
}

static void dump_parking_capacity(apr_file_t *out, server_rec *s)
{
    admission_room_t room = admission_room(s);

    if (room.requests) {
        apr_file_printf(out,
                        "  parking capacity: %" APR_INT64_T_FMT
                        " requests in %d children at start, %" APR_INT64_T_FMT
                        " in %d at most\n",
                        room.requests_at_start, room.children_at_start,
                        room.requests, room.children);
    }
}

/* Print where the limit is set, which can be in several sections. */
static void dump_places(apr_file_t *out, const admission_zone_t *zone)
{
    apr_file_printf(out, " (%s", zone->place);
    if (zone->second_place) {
        apr_file_printf(out, ", also %s", zone->second_place);
    }
    if (zone->places > 2) {
        apr_file_printf(out, " and %d more", zone->places - 2);
    }
    apr_file_puts(")\n", out);
}

/* The limit, including the maximum of an automatic limit that sets none. */
static const char *name_limit(apr_pool_t *p, const admission_zone_t *zone)
{
    admission_limit_t limit = zone->max_concurrent;

    limit.number = zone->limit;
    return admission_limit_name(p, &limit);
}

static void dump_zones(apr_pool_t *p, apr_file_t *out, server_rec *s)
{
    const char *way = admission_room_would_park(s) ? "parked" : "blocked";
    const admission_zone_t *zone;
    int part;

    for (zone = admission_zones(); zone; zone = zone->next) {
        apr_file_printf(out,
                        "  %s limit %s queue %d timeout %" APR_TIME_T_FMT
                        "ms waiting %s%s",
                        zone->name, name_limit(p, zone), zone->queue->length,
                        apr_time_as_msec(zone->queue->timeout), way,
                        zone->dry_run ? " dry run" : "");
        if (zone->queue->target) {
            apr_file_printf(out, " target %" APR_TIME_T_FMT "ms",
                            apr_time_as_msec(zone->queue->target));
        }
        if (zone->is_shared) {
            apr_file_printf(out, " fleet");
        }
        for (part = 0; part < ADMISSION_PARTS_NUMBER; part++) {
            if (admission_parts[part]->describe) {
                admission_parts[part]->describe(out, zone->apparent);
            }
        }
        dump_places(out, zone);
    }
}

void admission_advice_test_config(apr_pool_t *pconf, server_rec *s)
{
    apr_file_t *out = NULL;

    admission_zones_bound(admission_capacity_for_zones(s));
    if (ap_exists_config_define("DUMP_ADMISSION")) {
        apr_file_open_stdout(&out, pconf);
        apr_file_printf(out, "Admission zones:\n");
        dump_parking_capacity(out, s);
        dump_zones(pconf, out, s);
    }
    else if (ap_state_query(AP_SQ_RUN_MODE) == AP_SQ_RM_CONFIG_TEST) {
        admission_advice_start(pconf, s);
    }
}
