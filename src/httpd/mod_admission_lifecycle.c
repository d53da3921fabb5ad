/* mod_admission_lifecycle.c - the segment over restarts, children's start and
 * death.
 *
 * The parent makes one segment and keeps it over every restart: only so do the
 * children of an old and of a new generation share one limit.
 */
#include <httpd.h>
#include <errno.h>
#include <signal.h>
#include <apr_strings.h>
#include <ap_mpm.h>
#include <http_main.h>
#include <http_core.h>

#include "mod_admission_private.h"

APLOG_USE_MODULE(admission);

#define MIN_ZONES 16384
#define MIN_TICKETS 65536
#define SPARE_CHILDREN 64

static adm_segment_t *segment; /* inherited by children */
static adm_child_t *child;     /* in children */
static int server_workers;

static void log_unregistered(apr_status_t rv)
{
    ap_log_error(APLOG_MARK, APLOG_ERR, 0, ap_server_conf, ADMLOGNO(0108)
                 "%s, requests of this child run without a limit",
                 rv == ADM_NO_CHILD
                     ? "the table of children is full"
                     : "the shared memory is not what this module wrote");
}

adm_segment_t *admission_segment(void)
{
    return segment;
}

/* mpm-itk serves each connection in a process of its own. What it holds is
 * taken back when that ends, as of any child. */
static void register_fork(void)
{
    apr_status_t rv = adm_child_register(&child, segment, 0,
                                         ap_server_conf->process->pool);

    if (rv != APR_SUCCESS) {
        child = NULL;
        log_unregistered(rv);
    }
}

adm_child_t *admission_child(void)
{
    if (child && !adm_child_is_self(child)) {
        register_fork();
    }
    return child;
}

int admission_server_workers(void)
{
    return server_workers;
}

/* ---- the parent ------------------------------------------------------------------ */

static int query_mpm(int what, int otherwise)
{
    int value;

    return ap_mpm_query(what, &value) == APR_SUCCESS ? value : otherwise;
}

static int count_workers(void)
{
    int threads = query_mpm(AP_MPMQ_MAX_THREADS, 1);

    return query_mpm(AP_MPMQ_MAX_DAEMONS, 1) * (threads > 0 ? threads : 1);
}

static uint32_t at_least(uint64_t wanted, uint32_t least, uint32_t most)
{
    return wanted < least ? least : wanted > most ? most : (uint32_t)wanted;
}

/* How many tickets all zones can use at once. */
static uint64_t tickets_needed(void)
{
    const apr_array_header_t *zones = admission_zones();
    uint64_t tickets = 0;
    int i;

    for (i = 0; i < zones->nelts; i++) {
        const admission_zone_t *zone = APR_ARRAY_IDX(zones, i,
                                                     admission_zone_t *);

        /* A zone takes them in chunks. */
        tickets += (uint64_t)zone->limit + (uint64_t)zone->queue_length + 128;
    }
    return tickets;
}

/* Capacities cannot grow later, and unused room costs nothing. */
static adm_sizes_t choose_sizes(void)
{
    const apr_array_header_t *zones = admission_zones();

    return (adm_sizes_t){
        .zones = at_least(4 * (uint64_t)zones->nelts, MIN_ZONES, 65536),
        .tickets = at_least(4 * tickets_needed(), MIN_TICKETS, 1 << 24),
        /* The worker MPM can have more processes than slots while old ones
         * drain. */
        .children =
            at_least(2 * (uint64_t)query_mpm(AP_MPMQ_HARD_LIMIT_DAEMONS, 256),
                     SPARE_CHILDREN, 1 << 20)
            + SPARE_CHILDREN
    };
}

static void warn_of_small_segment(server_rec *s)
{
    uint32_t room = adm_segment_sizes(segment).tickets;
    uint64_t needed = tickets_needed();

    if (needed > room) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0110)
                     "the zones can use %" APR_UINT64_T_FMT " tickets, the "
                     "shared memory has room for %u: requests beyond that run "
                     "without a limit until httpd is stopped and started",
                     needed, room);
    }
}

/* The segment of an earlier configuration of this parent, or a new one. */
static apr_status_t find_segment(server_rec *s)
{
    const char *key = apr_psprintf(s->process->pool, "mod_admission.segment.%u",
                                   adm_segment_version());
    adm_segment_t **retained = ap_retained_data_get(key);
    adm_sizes_t sizes = choose_sizes();
    apr_status_t rv;

    if (retained) {
        segment = *retained;
        return APR_SUCCESS;
    }
    rv = adm_segment_create(&segment, &sizes, s->process->pool);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    retained = ap_retained_data_create(key, sizeof(*retained));
    *retained = segment;
    ap_log_error(APLOG_MARK, APLOG_INFO, 0, s, ADMLOGNO(0101)
                 "shared memory created: room for %u zones, %u tickets and %u "
                 "children in %" APR_SIZE_T_FMT " KB of address space",
                 sizes.zones, sizes.tickets, sizes.children,
                 adm_segment_bytes(segment) / 1024);
    return APR_SUCCESS;
}

static void configure_zones(server_rec *s)
{
    const apr_array_header_t *zones = admission_zones();
    int i;

    adm_segment_begin_load(segment);
    for (i = 0; i < zones->nelts; i++) {
        admission_zone_t *zone = APR_ARRAY_IDX(zones, i, admission_zone_t *);
        apr_status_t rv = adm_segment_configure(segment, zone->name,
                                                (uint32_t)zone->limit,
                                                (uint32_t)zone->queue_length,
                                                &zone->handle);

        if (rv != APR_SUCCESS) {
            ap_log_error(APLOG_MARK, APLOG_ERR, 0, s, ADMLOGNO(0102)
                         "zone %s (%s): the zone table is full, its requests "
                         "run without a limit until httpd is stopped and "
                         "started",
                         zone->name, zone->place);
        }
    }
    adm_segment_end_load(
        segment,
        (uint32_t)(server_workers
                   - admission_reserved_workers(s, server_workers)),
        s->timeout);
}

/* What cannot work as it is written, although each number is allowed. */
static void warn_of_impossible_zone(server_rec *s, const admission_zone_t *zone,
                                    int free_for_zones)
{
    if (zone->limit > server_workers) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0103)
                     "zone %s (%s): MaxConcurrent %d can never be reached, "
                     "MaxRequestWorkers is %d",
                     zone->name, zone->place, zone->limit, server_workers);
    }
    else if (zone->limit > free_for_zones) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0104)
                     "zone %s (%s): MaxConcurrent %d can never be reached, "
                     "AdmissionReserve leaves zones %d of %d workers",
                     zone->name, zone->place, zone->limit, free_for_zones,
                     server_workers);
    }
    else if (zone->queue_length && !admission_would_park(s)
             && zone->limit + zone->queue_length > free_for_zones) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0105)
                     "zone %s (%s): MaxConcurrent %d and AdmissionQueue %d "
                     "need %d workers, AdmissionReserve leaves zones %d of %d: "
                     "requests beyond that are rejected; lower AdmissionQueue "
                     "or raise MaxRequestWorkers",
                     zone->name, zone->place, zone->limit, zone->queue_length,
                     zone->limit + zone->queue_length, free_for_zones,
                     server_workers);
    }
}

static void warn_of_the_impossible(server_rec *s)
{
    const apr_array_header_t *zones = admission_zones();
    int reserved = admission_reserved_workers(s, server_workers);
    int i;

    if (zones->nelts && reserved >= server_workers) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0106)
                     "AdmissionReserve leaves no worker to any zone: it is as "
                     "much as MaxRequestWorkers, %d, or more",
                     server_workers);
        return;
    }
    if (zones->nelts && ap_find_linked_module("mod_cgi.c")
        && query_mpm(AP_MPMQ_IS_THREADED, AP_MPMQ_NOT_SUPPORTED)
               != AP_MPMQ_NOT_SUPPORTED) {
        ap_log_error(
            APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0109)
            "mod_cgi is loaded with a threaded MPM: a program whose "
            "request no zone counts inherits blocked signals, httpd "
            "needs three seconds and a worker to end it; load mod_cgid "
            "instead");
    }
    for (i = 0; i < zones->nelts; i++) {
        warn_of_impossible_zone(s, APR_ARRAY_IDX(zones, i, admission_zone_t *),
                                server_workers - reserved);
    }
}

static void warn_of_settings(apr_pool_t *p, server_rec *s)
{
    admission_warn_of_directives(p, s);
    admission_park_warn(s);
    warn_of_the_impossible(s);
}

void admission_test_config(apr_pool_t *pconf, server_rec *s)
{
    if (ap_state_query(AP_SQ_RUN_MODE) == AP_SQ_RM_CONFIG_TEST
        && !ap_exists_config_define("DUMP_ADMISSION")) {
        server_workers = count_workers();
        warn_of_settings(pconf, s);
    }
}

int admission_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                          apr_pool_t *ptemp, server_rec *s)
{
    apr_status_t rv;

    (void)plog;
    segment = NULL;
    if (ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG) {
        return OK; /* a rehearsal: everything is unloaded again after it */
    }
    server_workers = count_workers();
    rv = find_segment(s);
    if (rv == APR_SUCCESS) {
        rv = adm_program_watch_forks(segment);
    }
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_CRIT, rv, s, ADMLOGNO(0107)
                     "shared memory cannot be created, no limit can be "
                     "enforced");
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    configure_zones(s);
    admission_park_post_config(s);
    admission_recycle_post_config(s);
    admission_include_post_config();
    warn_of_small_segment(s);
    warn_of_settings(ptemp, s);
    admission_surroundings_post_config(pconf, ptemp, s);
    return OK;
}

void admission_child_status(server_rec *s, pid_t pid, ap_generation_t gen,
                            int slot, mpm_child_status status)
{
    (void)s;
    (void)gen;
    (void)slot;
    /* httpd says so of a child that somebody stopped (SIGSTOP), too, and forgets
     * it. Who has ended does not answer any more. */
    if (status == MPM_CHILD_EXITED && segment && kill(pid, 0) != 0
        && errno == ESRCH) {
        adm_child_ended(segment, pid);
    }
}

/* ---- children ------------------------------------------------------------------------ */

int admission_reserved_share(server_rec *s, int threads)
{
    int workers = count_workers(); /* also of a server that does not run */
    int reserved = admission_reserved_workers(s, workers);
    int share = workers > 0
                    ? (int)(((apr_int64_t)threads * reserved + workers - 1)
                            / workers)
                    : 0;

    return share > 0 ? share : 1;
}

/* Where requests park, somebody of this child may have been granted a permit
 * and need a thread to go on. So of each child's threads the same share is
 * reserved as of the whole server's, and at least one. */
static void limit_blocked_threads(server_rec *s)
{
    int threads = query_mpm(AP_MPMQ_MAX_THREADS, 1);
    int reserved = admission_reserved_share(s, threads);

    if (admission_parks()) {
        adm_worker_limit_blocked(child, reserved < threads
                                            ? (uint32_t)(threads - reserved)
                                            : 1);
        admission_park_limit_connections(s, child);
    }
}

void admission_child_init(apr_pool_t *pchild, server_rec *s)
{
    apr_status_t rv;

    if (!segment) {
        return;
    }
    rv = adm_child_register(&child, segment,
                            (uint32_t)query_mpm(AP_MPMQ_GENERATION, 0), pchild);
    if (rv != APR_SUCCESS) {
        child = NULL;
        log_unregistered(rv);
    }
    else {
        limit_blocked_threads(s);
    }
    admission_surroundings_child_init(s);
    admission_http2_child_init(s);
    admission_park_child_init(pchild, s);
    admission_recycle_child_init(s);
}

void admission_child_stopping(apr_pool_t *pchild, int graceful)
{
    (void)pchild;
    /* Who waits must not keep the child from ending; a graceful end waits for
     * them. */
    if (child && !graceful) {
        adm_child_stop(child);
    }
}
