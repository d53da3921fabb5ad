/* http2.c - account for the threads and workers of HTTP/2 streams in zones, and
 * give mod_http2 enough threads for those that wait.
 *
 * A stream runs on a thread of mod_http2 and occupies it while it waits for a
 * permit. mod_http2 starts threads on demand, up to H2MaxWorkers per child, so
 * a higher maximum costs nothing until it is used.
 *
 * If H2MaxWorkers is not set, it is raised by the number of requests that a
 * zone can have running and waiting. Streams in zones use only the added
 * threads; other streams have as many as without the module. If H2MaxWorkers is
 * set, a share of it is reserved for other streams.
 *
 * A stream occupies a thread of mod_http2. Its connection also occupies a
 * worker of the MPM while any stream is open. So the first stream of a
 * connection that enters a zone takes one worker for all of them, and the last
 * stream to leave returns it.
 *
 * The counts are in private memory: if the child is killed, its record in the
 * segment, and with it its workers, are reclaimed.
 */
#include <httpd.h>
#include <limits.h>
#include <pthread.h>

#include <http_config.h>
#include <http_log.h>

#include "http2.h"
#include "module/capacity.h"
#include "module/conf_tree.h"
#include "module/process.h"
#include "module/zones.h"

APLOG_USE_MODULE(admission);

/* ---- threads ------------------------------------------------------------- */

#define DEFAULT_THREADS 25 /* httpd's ThreadsPerChild */

/* Upper bound of the chosen H2MaxWorkers: each can become a thread. */
#define MOST_THREADS 512

static int threads_before; /* mod_http2's default */
static int threads_added;  /* 0: H2MaxWorkers unchanged */

/* mod_http2 does not export its configuration. This computes its default of
 * H2MaxWorkers. */
static int default_threads(int threads_per_child)
{
    int min = (int)admission_conf_tree_number("H2MinWorkers", 0);

    min = min > 0 ? min : threads_per_child;
    return min > 2 ? (int)((apr_int64_t)min * 3 / 2) : 4;
}

static bool is_in_use(apr_pool_t *p)
{
    return ap_find_linked_module("mod_http2.c")
           && admission_capacity_is_threaded()
           && (admission_conf_tree_anywhere(p, "Protocols", "h2")
               || admission_conf_tree_anywhere(p, "Protocols", "h2c"));
}

static long at_most(long number, long most)
{
    return number < most ? number : most;
}

/* Twice the limit: a stream that has released its permit occupies its thread a
 * moment longer, while its successor runs and another request joins the queue.
 */
static long threads_of_zone(const admission_conf_tree_zones_t *zones)
{
    return 2 * at_most(zones->limit, MOST_THREADS)
           + at_most(zones->queue, MOST_THREADS);
}

void admission_streams_pre_config(apr_pool_t *pconf)
{
    admission_conf_tree_zones_t zones = admission_conf_tree_zones();
    double threads = admission_conf_tree_number("ThreadsPerChild",
                                                DEFAULT_THREADS);
    long wanted;

    threads_added = 0;
    if (zones.limits == 0 || !is_in_use(pconf) || threads < 1
        || threads > USHRT_MAX
        || admission_conf_tree_number("H2MaxWorkers", 0) > 0) {
        return;
    }
    threads_before = default_threads((int)threads);
    wanted = at_most(threads_of_zone(&zones), MOST_THREADS - threads_before);
    if (wanted > 0) {
        threads_added = (int)wanted;
        admission_conf_tree_add(pconf, "H2MaxWorkers",
                                threads_before + threads_added);
    }
}

/* @return the number of streams that may be in zones concurrently, per
 * child. */
static int streams_room(server_rec *s)
{
    int threads = (int)admission_conf_tree_number("H2MaxWorkers", 0);
    int room;

    if (threads_added) {
        return threads_added;
    }
    if (threads < 1) {
        threads = default_threads(admission_capacity_threads());
    }
    /* At least one thread each for streams in zones and for others. */
    room = threads - admission_capacity_reserved_share(s, threads);
    return room > 1 ? room : 1;
}

static int accepted(const admission_zone_t *zone)
{
    return admission_zones_planned(zone) + zone->queue->length;
}

/* @return the zone that accepts most requests, running and waiting. */
static const admission_zone_t *largest_zone(void)
{
    const admission_zone_t *zone, *largest = admission_zones();

    for (zone = largest; zone; zone = zone->next) {
        if (accepted(zone) > accepted(largest)) {
            largest = zone;
        }
    }
    return largest;
}

/* Compare a zone with the threads of one child: all streams of a client are on
 * one connection, in one child. */
static void warn_of_long_queue(server_rec *s)
{
    const admission_zone_t *zone = largest_zone();
    int room = streams_room(s);

    if (accepted(zone) > room) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0115)
                     "zone %s (%s): MaxConcurrent %d and AdmissionQueue %d "
                     "accept %d requests, but each child has room for %d "
                     "HTTP/2 streams in zones: further requests are rejected; "
                     "raise H2MaxWorkers or lower AdmissionQueue",
                     zone->name, zone->place, admission_zones_planned(zone),
                     zone->queue->length, accepted(zone), room);
    }
}

void admission_streams_start(apr_pool_t *ptemp, server_rec *s)
{
    if (!admission_zones() || !is_in_use(ptemp)) {
        return;
    }
    if (threads_added) {
        ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, s, ADMLOGNO(0126)
                     "H2MaxWorkers is not set; using %d instead of mod_http2's "
                     "default of %d, so that HTTP/2 streams waiting for a "
                     "permit leave enough threads for others",
                     threads_before + threads_added, threads_before);
    }
    warn_of_long_queue(s);
}

/* ---- streams ------------------------------------------------------------- */

/* Reasons for a rejected stream, and the remedy. */
#define NO_THREAD \
    "the last threads of mod_http2 are reserved, raise H2MaxWorkers"
#define NO_WORKER                                                            \
    "the last workers are reserved, and its HTTP/2 connection would occupy " \
    "one; raise MaxRequestWorkers"
#define NO_ROOM                                                       \
    "its HTTP/2 connection would occupy a worker, and the remaining " \
    "connections are reserved; raise MaxRequestWorkers"

/* A connection that has streams in zones. */
typedef struct connection_t {
    const conn_rec *c; /* the client's; compared, never dereferenced */
    int streams;
} connection_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* All under one lock, held also while the worker is requested: a second stream
 * must not enter before its connection has a worker. */
static connection_t *connections; /* streams_max elements */
static int connections_used;
static int streams;
static int streams_max;

void admission_http2_child_start(server_rec *s)
{
    streams_max = streams_room(s);
    /* The process pool, because streams can end while pchild is destroyed. */
    connections = apr_pcalloc(s->process->pool,
                              (apr_size_t)streams_max * sizeof(*connections));
}

static connection_t *find_connection(const conn_rec *c)
{
    int i;

    for (i = 0; i < connections_used; i++) {
        if (connections[i].c == c) {
            return &connections[i];
        }
    }
    return NULL;
}

/* Count a stream, and occupy a worker if it is the first one of its connection.
 * @return ADM_WORKER_NONE: counted; otherwise @a why has the reason. */
static adm_worker_t enter_locked(const conn_rec *c, const char **why)
{
    connection_t *connection = find_connection(c);
    adm_worker_t worker = ADM_WORKER_NONE;

    if (streams >= streams_max) {
        *why = NO_THREAD;
        return ADM_WORKER_DENIED;
    }
    if (!connection) {
        worker = adm_worker_occupy(admission_process_child());
        if (worker != ADM_WORKER_NONE) {
            *why = worker == ADM_WORKER_NO_ROOM ? NO_ROOM : NO_WORKER;
            return worker;
        }
        connection = &connections[connections_used++];
        *connection = (connection_t){ .c = c };
    }
    connection->streams++;
    streams++;
    return worker;
}

/* Undo enter_locked(). The connection is in the table as long as one of its
 * streams is counted. */
static void leave_locked(const conn_rec *c)
{
    connection_t *connection = find_connection(c);

    streams--;
    if (connection && --connection->streams == 0) {
        *connection = connections[--connections_used];
        adm_worker_vacate(admission_process_child());
    }
}

adm_worker_t admission_http2_enter(const request_rec *r,
                                   admission_request_t *state)
{
    adm_worker_t worker;

    pthread_mutex_lock(&lock);
    worker = enter_locked(r->connection->master, &state->why_denied);
    pthread_mutex_unlock(&lock);
    state->counts_for_http2 = worker == ADM_WORKER_NONE;
    return worker;
}

void admission_http2_leave_counted(const request_rec *r,
                                   admission_request_t *state)
{
    state->counts_for_http2 = false;
    pthread_mutex_lock(&lock);
    leave_locked(r->connection->master);
    pthread_mutex_unlock(&lock);
}
