/* park_room.c - parking capacity: how many requests can be parked, and a factor
 * with which event accepts other connections, too.
 *
 * event accepts connections as long as a child has fewer than
 *
 *     ThreadsPerChild + idle threads * AsyncRequestWorkerFactor
 *
 * and, after it has stopped, again when it has fewer than that with one idle
 * thread less. Parked requests are among the connections. A child full of them
 * stops accepting, and its threads no longer count as spare threads, so the
 * parent starts more children, up to MaxRequestWorkers. Until then no request
 * needs to be rejected.
 *
 * Some connections are reserved for other requests: as many as these need to
 * use the workers of AdmissionReserve. A busy worker needs one connection, and
 * reduces the sum by the factor.
 */
#include <httpd.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <unistd.h>

#include <http_config.h>
#include <http_log.h>

#include "module/conf_tree.h"
#include "module/zones.h"
#include "module/capacity.h"
#include "module/process.h"
#include "park_mpm.h"
#include "park_room.h"

APLOG_USE_MODULE(admission);

/* Defaults in event.c. */
#define DEFAULT_START 3
#define DEFAULT_FACTOR 2
#define DEFAULT_THREADS 25

static bool server_parks; /* set in the parent, for all children */

/* ---- the MPM ------------------------------------------------------------- */

static int children_at_start(void)
{
    double start = admission_conf_tree_number("StartServers", DEFAULT_START);
    int most = admission_capacity_children();

    return start < 1 ? 1 : start < most ? (int)start : most;
}

/* event rounds the factor down, to 1 at least. */
static apr_int64_t factor_of_mpm(void)
{
    double factor = admission_conf_tree_number("AsyncRequestWorkerFactor",
                                               DEFAULT_FACTOR);

    return factor >= 1 ? (apr_int64_t)factor : 1;
}

/* Connections that one busy worker uses up. */
static apr_int64_t connections_per_worker(void)
{
    return 1 + factor_of_mpm();
}

/* ---- connections --------------------------------------------------------- */

/* In a child with fewer threads that are not reserved, two requests that run
 * would use up the child's budget. */
#define KEEPING_THREADS 4

/* @return whether connections can be reserved for other requests. With few
 * threads per child, too few connections are left to park, and a child that has
 * stopped accepting starts again only when it has few connections. Nothing is
 * reserved then, and clients wait to be accepted, as without the module. */
static bool can_keep_connections(server_rec *s)
{
    int threads = admission_capacity_threads();

    return threads - admission_capacity_reserved_share(s, threads)
           >= KEEPING_THREADS;
}

/* Connections that parked requests and their workers can use: in all children
 * together, and in one child. */
static apr_int64_t server_budget(server_rec *s)
{
    int children = admission_capacity_children();
    int workers = admission_capacity_workers();

    return can_keep_connections(s)
               ? (workers - admission_capacity_reserved(s, workers))
                         * connections_per_worker()
                     - children * factor_of_mpm()
               : workers * connections_per_worker();
}

static apr_int64_t child_budget(server_rec *s)
{
    int threads = admission_capacity_threads();

    return (threads - admission_capacity_reserved_share(s, threads))
               * connections_per_worker()
           - factor_of_mpm();
}

static uint32_t as_budget(apr_int64_t connections)
{
    return connections < 0            ? 0
           : connections < UINT32_MAX ? (uint32_t)connections
                                      : UINT32_MAX;
}

/* ---- open files ---------------------------------------------------------- */

apr_int64_t admission_room_files_allowed(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0
                   && limit.rlim_cur < (rlim_t)INT_MAX
               ? (apr_int64_t)limit.rlim_cur
               : INT_MAX;
}

/* Each log file is an open file. If /proc is not mounted, the lowest free
 * number is the estimate. */
apr_int64_t admission_room_files_open(void)
{
    DIR *files = opendir("/proc/self/fd");
    apr_int64_t open = -1; /* not the directory itself */
    int lowest;

    if (files) {
        while (readdir(files)) {
            open++;
        }
        closedir(files);
        return open - 2; /* "." and ".." */
    }
    lowest = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (lowest >= 0) {
        close(lowest);
    }
    return lowest;
}

/* Each parked request needs two descriptors. Descriptors of reserved
 * connections are subtracted first. */
static apr_int64_t limit_by_descriptors(server_rec *s, apr_int64_t open)
{
    int threads = admission_capacity_threads();
    apr_int64_t others = admission_capacity_reserved_share(s, threads)
                         * connections_per_worker();
    apr_int64_t left = admission_room_files_allowed() - open
                       - ADMISSION_SPARE_FILES
                       - ADMISSION_THREAD_FILES * threads - others;

    return left > 0 ? left / 2 : 0;
}

/* ---- capacity ------------------------------------------------------------ */

/* Maximum by the connections that the MPM accepts in one child. */
static apr_int64_t limit_by_connections(void)
{
    return MIN(admission_capacity_threads() * connections_per_worker(),
               ADM_PARK_SLOTS);
}

apr_int64_t admission_room_slots(server_rec *s, apr_int64_t open)
{
    apr_int64_t descriptors = limit_by_descriptors(s, open);

    return MIN(limit_by_connections(), descriptors);
}

bool admission_room_would_park(server_rec *s)
{
    return admission_conf_parks(s) && admission_mpm_way()
           && admission_room_slots(s, admission_room_files_open()) > 0;
}

bool admission_room_lacks_files(server_rec *s)
{
    return admission_conf_parks(s) && admission_mpm_way()
           && !admission_room_would_park(s);
}

admission_room_t admission_room(server_rec *s)
{
    apr_int64_t slots = admission_room_slots(s, admission_room_files_open());
    apr_int64_t budget = server_budget(s);
    admission_room_t room = { 0 };

    if (admission_room_would_park(s)) {
        room.children = admission_capacity_children();
        room.children_at_start = children_at_start();
        room.requests = MIN(room.children * slots, budget);
        room.requests_at_start = MIN(room.children_at_start * slots, budget);
    }
    return room;
}

/* Capacity of all children. Computed once for all zones, because it searches
 * the whole configuration. */
typedef struct capacity_t {
    apr_int64_t slots;      /* maximum of parked requests */
    apr_int64_t budget;     /* connections for parked requests and workers */
    apr_int64_t per_worker; /* connections that a busy worker uses up */
} capacity_t;

/* What the zone can park while all its permits are in use. */
static apr_int64_t room_of_zone(const capacity_t *all,
                                const admission_zone_t *zone)
{
    apr_int64_t left = all->budget
                       - admission_zones_planned(zone) * all->per_worker;

    return left > 0 ? MIN(all->slots, left) : 0;
}

static void warn_of_long_queue(server_rec *s, const admission_zone_t *zone,
                               apr_int64_t room, int files_are_short)
{
    ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0302)
                 "zone %s (%s): AdmissionQueue %d exceeds the parking capacity "
                 "of %" APR_INT64_T_FMT " requests (%d children, "
                 "MaxConcurrent %d): further requests occupy a worker or are "
                 "rejected; raise %s or lower AdmissionQueue",
                 zone->name, zone->place, zone->queue->length, room,
                 admission_capacity_children(), admission_zones_planned(zone),
                 files_are_short ? "the limit of open files"
                                 : "AsyncRequestWorkerFactor");
}

/* Warn of the zone with the largest shortfall. Each zone is checked alone: all
 * of them being full is unlikely. */
void admission_room_warn(server_rec *s)
{
    const admission_zone_t *zone, *worst = NULL;
    capacity_t all = { 0 };
    apr_int64_t most = 0, room = 0;

    if (!admission_room_would_park(s)) {
        return;
    }
    all.slots = admission_capacity_children()
                * admission_room_slots(s, admission_room_files_open());
    all.budget = server_budget(s);
    all.per_worker = connections_per_worker();
    for (zone = admission_zones(); zone; zone = zone->next) {
        apr_int64_t room_here = room_of_zone(&all, zone);

        if (!zone->dry_run && zone->queue->length - room_here > most) {
            most = zone->queue->length - room_here;
            worst = zone;
            room = room_here;
        }
    }
    if (worst) {
        warn_of_long_queue(s, worst, room, room == all.slots);
    }
}

/* ---- AsyncRequestWorkerFactor -------------------------------------------- */

/* With the default factor, a full queue uses up the connections of all running
 * children, and other clients wait up to a second until the parent has started
 * more. If the administrator sets no factor, a larger one is therefore appended
 * to the configuration before event reads it. A configured factor is never
 * changed. */
static long factor_added; /* 0: none added */

typedef struct settings_t {
    int logs; /* each can be an open file */
    bool parking_is_off;
    bool has_factor;
} settings_t;

/* ErrorLog, CustomLog, TransferLog and others. */
static bool is_log(const char *directive)
{
    size_t length = strlen(directive);

    return length > 3 && strcasecmp(directive + length - 3, "Log") == 0;
}

static void note_directive(const ap_directive_t *directive,
                           settings_t *settings)
{
    if (admission_conf_tree_is(directive, "AdmissionParking")) {
        settings->parking_is_off = strcasecmp(directive->args, "Off") == 0;
    }
    else if (admission_conf_tree_is(directive, "AsyncRequestWorkerFactor")) {
        settings->has_factor = true;
    }
    else if (is_log(directive->directive)) {
        settings->logs++;
    }
}

/* Choose a factor with which the longest queue fits into one child whose
 * threads are half idle, in addition to the connections of the default. Open
 * files limit it: one per connection, and a second one per parked request. */
static long choose_factor(const settings_t *settings, long queue)
{
    long threads = (long)admission_conf_tree_number("ThreadsPerChild",
                                                    DEFAULT_THREADS);
    long files = (long)admission_room_files_allowed() - settings->logs
                 - ADMISSION_SPARE_FILES - queue;
    long factor, allowed;

    /* A child with one thread accepts nothing else while it runs a program,
     * whatever the factor. */
    if (threads < 2 || threads > INT_MAX || queue > ADM_PARK_SLOTS) {
        return DEFAULT_FACTOR;
    }
    factor = DEFAULT_FACTOR + 2 * ((queue + threads - 1) / threads);
    allowed = files / threads - ADMISSION_THREAD_FILES - 1;
    return factor < allowed ? factor : allowed;
}

void admission_room_pre_config(apr_pool_t *pconf)
{
    admission_conf_tree_zones_t zones = admission_conf_tree_zones();
    settings_t settings = { 0 };
    const ap_directive_t *directive;
    long factor;

    factor_added = 0;
    for (directive = ap_conftree; directive;
         directive = admission_conf_tree_next(directive)) {
        note_directive(directive, &settings);
    }
    if (!admission_mpm_way() || settings.has_factor || settings.parking_is_off
        || zones.limits == 0) {
        return;
    }
    factor = choose_factor(&settings, zones.queue);
    if (factor > DEFAULT_FACTOR) {
        admission_conf_tree_add(pconf, "AsyncRequestWorkerFactor", factor);
        factor_added = factor;
    }
}

/* ---- start --------------------------------------------------------------- */

bool admission_room_parks(void)
{
    return server_parks;
}

void admission_room_start(server_rec *s)
{
    server_parks = admission_room_would_park(s);
    if (admission_zones()) {
        ap_log_error(APLOG_MARK, APLOG_INFO, 0, s, ADMLOGNO(0303)
                     "waiting requests %s%s",
                     server_parks ? "are parked and hold no worker: "
                                  : "hold a worker",
                     server_parks ? admission_mpm_way() : "");
    }
    if (factor_added && server_parks) {
        ap_log_error(
            APLOG_MARK, APLOG_NOTICE, 0, s, ADMLOGNO(0306)
            "AsyncRequestWorkerFactor is not set: using %ld instead of "
            "httpd's default of %d, so that children accept "
            "connections in addition to parked requests",
            factor_added, DEFAULT_FACTOR);
    }
}

/* Keep threads free for granted requests of this child that lack one: the same
 * share as AdmissionReserve's of the server, at least one. While none lacks a
 * thread, requests can block all: other children, with the server's reserve,
 * then accept connections. */
void admission_room_child_start(server_rec *s)
{
    adm_child_t *child = admission_process_own_child();
    int threads = admission_capacity_threads();
    int reserved = admission_capacity_reserved_share(s, threads);

    if (!server_parks || !child) {
        return;
    }
    adm_worker_limit_blocked(child, reserved < threads
                                        ? (uint32_t)(threads - reserved)
                                        : 1);
    if (can_keep_connections(s)) {
        adm_worker_limit_connections(child, as_budget(child_budget(s)),
                                     as_budget(server_budget(s)),
                                     as_budget(connections_per_worker()));
    }
}
