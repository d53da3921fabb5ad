/* mod_admission_surroundings.c - warn at start of what else the server does that
 * weakens a limit.
 *
 * Only of what the module can know: what is loaded, what the configuration says.
 * docs/manual has the rest.
 */
#include <httpd.h>
#include <http_log.h>

#include "config/mod_admission_said.h"
#include "config/mod_admission_zones.h"
#include "server/mod_admission_capacity.h"
#include "server/mod_admission_process.h"
#include "server/mod_admission_surroundings.h"

APLOG_USE_MODULE(admission);

static const admission_zone_t *largest_zone(void)
{
    const apr_array_header_t *zones = admission_zones();
    const admission_zone_t *largest = NULL;
    int i;

    for (i = 0; i < zones->nelts; i++) {
        const admission_zone_t *zone = APR_ARRAY_IDX(zones, i,
                                                     admission_zone_t *);

        if (!largest
            || zone->limit + zone->queue_length
                   > largest->limit + largest->queue_length) {
            largest = zone;
        }
    }
    return largest;
}

/* A client has its streams on one connection, so in one child. */
static void warn_of_http2(server_rec *s, apr_pool_t *p)
{
    const admission_zone_t *zone = largest_zone();
    int room = admission_capacity_http2_room(s);

    if (zone->limit + zone->queue_length > room
        && ap_find_linked_module("mod_http2.c")
        && (admission_said_anywhere(p, "Protocols", "h2")
            || admission_said_anywhere(p, "Protocols", "h2c"))) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0115)
                     "zone %s (%s): MaxConcurrent %d and AdmissionQueue %d "
                     "accept %d requests, but each child has room for %d "
                     "HTTP/2 streams in zones: requests beyond that are "
                     "rejected; raise H2MaxWorkers or lower AdmissionQueue",
                     zone->name, zone->place, zone->limit, zone->queue_length,
                     zone->limit + zone->queue_length, room);
    }
}

int admission_surroundings_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                       apr_pool_t *ptemp, server_rec *s)
{
    (void)pconf;
    (void)plog;
    if (admission_process_segment() && admission_zones()->nelts) {
        warn_of_http2(s, ptemp);
    }
    return OK;
}
