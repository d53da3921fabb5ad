/* view_probe.c - whether new requests are served in time, for load balancers.
 * Called by view_handler for ?ready. */
#include <httpd.h>
#include <apr_strings.h>

#include "view_fields.h"
#include "view_outputs.h"
#include "view_text.h"

/* @return why a request that arrives now is not served in time; NULL if it is.
 * A busy zone does not limit its requests. */
static const char *reason_of(const admission_view_t *view)
{
    const adm_zone_stats_t *stats = &view->stats;

    if (view->is_busy || view->zone->dry_run) {
        return NULL;
    }
    return stats->mode == ADM_MODE_DRAIN ? "drain"
           : stats->mode == ADM_MODE_OPEN && stats->active >= stats->limit
                   && stats->queued >= stats->queue_length
               ? "full"
           : view->zone->queue->target
                   && stats->oldest_wait_usec > view->zone->queue->target
               ? "late"
               : NULL;
}

int admission_probe_write(request_rec *r, const admission_zone_t *only)
{
    const admission_zone_t *zone = admission_fields_zones(r->pool, only);

    apr_table_setn(r->headers_out, "Cache-Control", "no-store");
    for (; zone; zone = zone->next) {
        admission_view_t view;
        const char *reason;

        admission_fields_sample_zone(zone, &view, NULL);
        reason = reason_of(&view);
        if (reason) {
            return admission_text_answer(
                r, HTTP_SERVICE_UNAVAILABLE,
                apr_pstrcat(r->pool, reason, ": ",
                            admission_text_utf8(r->pool, view.zone->name),
                            NULL));
        }
    }
    return admission_text_answer(r, HTTP_OK, "ready");
}
