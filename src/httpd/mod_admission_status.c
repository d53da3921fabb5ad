/* mod_admission_status.c - our part of the server-status page. */
#include <httpd.h>
#include <apr_strings.h>
#include <http_protocol.h>
#include <mod_status.h>

#include "mod_admission_private.h"

#define MSEC(usec) ((apr_int64_t)((usec) / ADM_USEC_PER_MSEC))

static apr_int64_t mean_msec(const adm_durations_t *durations)
{
    return durations->count ? MSEC(durations->sum_usec / durations->count) : 0;
}

/* One fact of a zone, for every form of output. */
typedef struct field_t {
    const char *name;  /* in ?auto */
    const char *title; /* in the table; NULL: not there */
    apr_int64_t (*value)(const admission_zone_t *zone,
                         const adm_zone_stats_t *stats);
} field_t;

#define FIELD(function, expression)                                     \
    static apr_int64_t function(const admission_zone_t *zone,           \
                                const adm_zone_stats_t *stats)          \
    {                                                                   \
        (void)zone;                                                     \
        (void)stats;                                                    \
        return (apr_int64_t)(expression);                               \
    }

FIELD(limit, stats->limit)
FIELD(active, stats->active)
FIELD(queued, stats->queued)
FIELD(queue_length, stats->queue_length)
FIELD(queue_timeout, apr_time_as_msec(zone->queue_timeout))
FIELD(queued_max, stats->queued_max)
FIELD(oldest_wait, MSEC(stats->oldest_wait_usec))
FIELD(admitted, stats->admitted)
FIELD(after_wait, stats->admitted_after_wait)
FIELD(exempt, stats->exempt)
FIELD(rejected_full, stats->rejected_full)
FIELD(rejected_timeout, stats->rejected_timeout)
FIELD(rejected_reserve, stats->rejected_reserve)
FIELD(gone, stats->gone)
FIELD(reclaimed, stats->reclaimed)
FIELD(wait_mean, mean_msec(&stats->wait))
FIELD(wait_max, MSEC(stats->wait.max_usec))
FIELD(service_mean, mean_msec(&stats->service))
FIELD(dry_run, zone->dry_run)

static const field_t fields[] = {
    { "Limit", "Limit", limit },
    { "Active", "Active", active },
    { "Queued", "Queued", queued },
    { "QueueLength", "Queue length", queue_length },
    { "QueueTimeoutMs", NULL, queue_timeout },
    { "QueuedMax", "Queued max", queued_max },
    { "OldestWaitMs", "Oldest wait ms", oldest_wait },
    { "Admitted", "Admitted", admitted },
    { "AdmittedAfterWait", "After wait", after_wait },
    { "Exempt", "Exempt", exempt },
    { "RejectedFull", "Rejected full", rejected_full },
    { "RejectedTimeout", "timeout", rejected_timeout },
    { "RejectedReserve", "reserve", rejected_reserve },
    { "Gone", "Gone", gone },
    { "Reclaimed", "Reclaimed", reclaimed },
    { "WaitMeanMs", "Wait mean ms", wait_mean },
    { "WaitMaxMs", "Wait max ms", wait_max },
    { "ServiceMeanMs", "Service mean ms", service_mean },
    { "DryRun", NULL, dry_run }
};

#define FIELDS ((int)(sizeof(fields) / sizeof(*fields)))

static int free_for_zones(const adm_server_stats_t *server)
{
    return server->worker_cap > server->workers_held
               ? (int)(server->worker_cap - server->workers_held)
               : 0;
}

/* ---- ?auto ---------------------------------------------------------------------- */

static void print_zone(request_rec *r, int number,
                       const admission_zone_t *zone,
                       const adm_zone_stats_t *stats)
{
    int i;

    ap_rprintf(r, "Admission[%d]Name: %s\n", number, zone->name);
    for (i = 0; i < FIELDS; i++) {
        ap_rprintf(r, "Admission[%d]%s: %" APR_INT64_T_FMT "\n", number,
                   fields[i].name, fields[i].value(zone, stats));
    }
}

static void print_server(request_rec *r, const adm_server_stats_t *server)
{
    ap_rprintf(r,
               "AdmissionZones: %d\n"
               "AdmissionReserve: %d\n"
               "AdmissionReserveFree: %d\n"
               "AdmissionBlocked: %u\n"
               "AdmissionParked: %u\n"
               "AdmissionUnlimited: %" APR_UINT64_T_FMT "\n"
               "AdmissionChildrenRecycled: %" APR_UINT64_T_FMT "\n"
               "AdmissionChildrenAway: %u\n"
               "AdmissionChildrenAwayMaxMs: %" APR_INT64_T_FMT "\n",
               admission_zones()->nelts,
               admission_server_workers() - (int)server->worker_cap,
               free_for_zones(server), server->blocked, server->parked,
               server->unlimited, server->recycled, server->away,
               MSEC(server->away_max_usec));
}

/* ---- HTML ------------------------------------------------------------------------- */

static void print_table_head(request_rec *r, const adm_server_stats_t *server)
{
    int i;

    ap_rputs("<hr />\n<h2>Admission control</h2>\n", r);
    ap_rprintf(r,
               "<dl><dt>Workers that zones may occupy: %u, occupied: %u, of "
               "these waiting: %u. Waiting without a worker: %u. Let through "
               "because of a fault: %" APR_UINT64_T_FMT ". Children recycled: "
               "%" APR_UINT64_T_FMT ", away now: %u, longest absence: "
               "%" APR_INT64_T_FMT " ms.</dt></dl>\n",
               server->worker_cap, server->workers_held, server->blocked,
               server->parked, server->unlimited, server->recycled,
               server->away, MSEC(server->away_max_usec));
    ap_rputs("<table border=\"0\"><tr><th>Zone</th>", r);
    for (i = 0; i < FIELDS; i++) {
        if (fields[i].title) {
            ap_rvputs(r, "<th>", fields[i].title, "</th>", NULL);
        }
    }
    ap_rputs("</tr>\n", r);
}

static void print_table_row(request_rec *r, const admission_zone_t *zone,
                            const adm_zone_stats_t *stats)
{
    int i;

    ap_rvputs(r, "<tr><td>", ap_escape_html(r->pool, zone->name),
              zone->dry_run ? " (dry run)" : "", "</td>", NULL);
    for (i = 0; i < FIELDS; i++) {
        if (fields[i].title) {
            ap_rprintf(r, "<td>%" APR_INT64_T_FMT "</td>",
                       fields[i].value(zone, stats));
        }
    }
    ap_rputs("</tr>\n", r);
}

/* Without tables: a list a zone. */
static void print_list(request_rec *r, const admission_zone_t *zone,
                       const adm_zone_stats_t *stats)
{
    int i;

    ap_rvputs(r, "<dl><dt>", ap_escape_html(r->pool, zone->name), "</dt>\n",
              NULL);
    for (i = 0; i < FIELDS; i++) {
        ap_rprintf(r, "<dd>%s: %" APR_INT64_T_FMT "</dd>\n", fields[i].name,
                   fields[i].value(zone, stats));
    }
    ap_rputs("</dl>\n", r);
}

/* ---- the hook ------------------------------------------------------------------------ */

static void print_zones(request_rec *r, int flags)
{
    const apr_array_header_t *zones = admission_zones();
    adm_usec_t now = adm_now();
    int i;

    for (i = 0; i < zones->nelts; i++) {
        const admission_zone_t *zone = APR_ARRAY_IDX(zones, i,
                                                     admission_zone_t *);
        adm_zone_stats_t stats = { .limit = (uint32_t)zone->limit };

        /* A copy: no lock is held while something is written. */
        adm_zone_stats(admission_child(), zone->handle, now, &stats);
        if (flags & AP_STATUS_SHORT) {
            print_zone(r, i, zone, &stats);
        }
        else if (flags & AP_STATUS_NOTABLE) {
            print_list(r, zone, &stats);
        }
        else {
            print_table_row(r, zone, &stats);
        }
    }
}

int admission_status(request_rec *r, int flags)
{
    adm_server_stats_t server;
    int is_table = !(flags & (AP_STATUS_SHORT | AP_STATUS_NOTABLE));

    if (!admission_child()) {
        return DECLINED;
    }
    /* Whoever looks must not see what the dead hold. */
    adm_audit(admission_child(), adm_now(), true);
    adm_server_stats(admission_segment(), &server);
    if (flags & AP_STATUS_SHORT) {
        print_server(r, &server);
    }
    else if (is_table) {
        print_table_head(r, &server);
    }
    print_zones(r, flags);
    if (is_table) {
        ap_rputs("</table>\n", r);
    }
    return OK;
}
