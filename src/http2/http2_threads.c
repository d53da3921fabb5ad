/* http2_threads.c - give mod_http2 enough threads for streams that wait.
 *
 * A stream runs on a thread of mod_http2 and occupies it while it waits for a
 * permit. mod_http2 starts threads on demand, up to H2MaxWorkers per child, so
 * a higher maximum costs nothing until it is used.
 *
 * If H2MaxWorkers is not set, it is raised by the number of requests that a
 * zone can have running and waiting. Streams in zones use only the added
 * threads; other streams have as many as without the module. If H2MaxWorkers is
 * set, a share of it is reserved for other streams.
 */
#include <httpd.h>
#include <limits.h>

#include <http_config.h>
#include <http_log.h>

#include "module/conf_tree.h"
#include "module/zones.h"
#include "module/capacity.h"
#include "module/process.h"
#include "http2_threads.h"

APLOG_USE_MODULE(admission);

/* httpd's default of ThreadsPerChild. */
#define DEFAULT_THREADS 25

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

int admission_streams_room(server_rec *s)
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
    return admission_zones_planned(zone) + zone->queue_length;
}

/* @return the zone that accepts most requests, running and waiting. */
static const admission_zone_t *largest_zone(void)
{
    const apr_array_header_t *zones = admission_zones();
    const admission_zone_t *largest = NULL;
    int i;

    for (i = 0; i < zones->nelts; i++) {
        const admission_zone_t *zone = APR_ARRAY_IDX(zones, i,
                                                     admission_zone_t *);

        if (!largest || accepted(zone) > accepted(largest)) {
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
    int room = admission_streams_room(s);

    if (accepted(zone) > room) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0115)
                     "zone %s (%s): MaxConcurrent %d and AdmissionQueue %d "
                     "accept %d requests, but each child has room for %d "
                     "HTTP/2 streams in zones: further requests are rejected; "
                     "raise H2MaxWorkers or lower AdmissionQueue",
                     zone->name, zone->place, admission_zones_planned(zone),
                     zone->queue_length, accepted(zone), room);
    }
}

int admission_streams_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                  apr_pool_t *ptemp, server_rec *s)
{
    if (!admission_process_segment() || !admission_zones()->nelts
        || !is_in_use(ptemp)) {
        return OK;
    }
    if (threads_added) {
        ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, s, ADMLOGNO(0126)
                     "H2MaxWorkers is not set; using %d instead of mod_http2's "
                     "default of %d, so that HTTP/2 streams waiting for a "
                     "permit leave enough threads for others",
                     threads_before + threads_added, threads_before);
    }
    warn_of_long_queue(s);
    return OK;
}
