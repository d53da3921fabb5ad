/* lifecycle.c - the segment across restarts, and the registration of children.
 *
 * The parent creates one segment and keeps it across restarts, so that the
 * children of an old and of a new generation share one limit.
 */
#include <httpd.h>
#include <errno.h>
#include <signal.h>
#include <apr_strings.h>
#include <ap_mpm.h>
#include <http_core.h>
#include <http_log.h>
#include <http_main.h>

#include "zones.h"
#include "capacity.h"
#include "lifecycle.h"
#include "process.h"

APLOG_USE_MODULE(admission);

#define MIN_ZONES 16384
#define MIN_TICKETS 65536
#define SPARE_CHILDREN 64
#define MIN_FLOW_TABLES 64

/* ---- the parent ---------------------------------------------------------- */

static uint32_t at_least(uint64_t wanted, uint32_t least, uint32_t most)
{
    return wanted < least ? least : wanted > most ? most : (uint32_t)wanted;
}

/* Number of tickets that all zones together can use. */
static uint64_t tickets_needed(void)
{
    const apr_array_header_t *zones = admission_zones();
    uint64_t tickets = 0;
    int i;

    for (i = 0; i < zones->nelts; i++) {
        const admission_zone_t *zone = APR_ARRAY_IDX(zones, i,
                                                     admission_zone_t *);

        /* A zone allocates tickets in chunks. */
        tickets += (uint64_t)zone->limit + (uint64_t)zone->queue_length + 128;
    }
    return tickets;
}

static uint64_t flow_tables_needed(void)
{
    const apr_array_header_t *zones = admission_zones();
    uint64_t count = 0;
    int i;

    for (i = 0; i < zones->nelts; i++) {
        count += APR_ARRAY_IDX(zones, i, admission_zone_t *)->uses_flows;
    }
    return count;
}

/* Capacities of the segment. Generous, because they cannot grow later, and
 * unused memory is never allocated. */
static adm_sizes_t choose_sizes(void)
{
    const apr_array_header_t *zones = admission_zones();

    return (adm_sizes_t){
        .zones = at_least(4 * (uint64_t)zones->nelts, MIN_ZONES,
                          ADMISSION_ZONES_MAX),
        .flow_tables = at_least(4 * flow_tables_needed(), MIN_FLOW_TABLES,
                                65536),
        .tickets = at_least(4 * tickets_needed(), MIN_TICKETS, 1 << 24),
        /* Twice, because the worker MPM can have more processes than slots
         * while old ones finish. */
        .children = at_least(2
                                 * (uint64_t)admission_capacity_query(
                                     AP_MPMQ_HARD_LIMIT_DAEMONS, 256),
                             SPARE_CHILDREN, 1 << 20)
                    + SPARE_CHILDREN
    };
}

#define VERSION_KEY "mod_admission.version"
#define SEGMENT_KEY "mod_admission.segment.%u"
#define VERSION_BEFORE 0x1007f64U /* version 0.1, which stores no version */

/* Warn if a reload has loaded a build of the module with another version of the
 * segment. */
static void note_version(server_rec *s, uint32_t version)
{
    const char *key_before = apr_psprintf(s->process->pool, SEGMENT_KEY,
                                          VERSION_BEFORE);
    uint32_t *retained = ap_retained_data_get(VERSION_KEY);

    if (!retained) {
        retained = ap_retained_data_create(VERSION_KEY, sizeof(*retained));
        *retained = ap_retained_data_get(key_before) ? VERSION_BEFORE : version;
    }
    if (*retained != version) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0125)
                     "module replaced by one with another layout of shared "
                     "memory: old and new children count separately, so up to "
                     "twice each limit can run until the old children exit; "
                     "stop and start httpd to avoid this");
    }
    *retained = version;
}

/* Get the segment of this parent's earlier configuration, or create one. */
static apr_status_t find_segment(server_rec *s, adm_segment_t **segment)
{
    const char *key = apr_psprintf(s->process->pool, SEGMENT_KEY,
                                   adm_segment_version());
    adm_segment_t **retained = ap_retained_data_get(key);
    adm_sizes_t sizes = choose_sizes();
    apr_status_t rv;

    note_version(s, adm_segment_version());
    if (retained) {
        *segment = *retained;
        return APR_SUCCESS;
    }
    rv = adm_segment_create(segment, &sizes, s->process->pool);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    retained = ap_retained_data_create(key, sizeof(*retained));
    *retained = *segment;
    ap_log_error(APLOG_MARK, APLOG_INFO, 0, s, ADMLOGNO(0101)
                 "shared memory created: room for %u zones, %u tickets and %u "
                 "children in %" APR_SIZE_T_FMT " KB of address space",
                 sizes.zones, sizes.tickets, sizes.children,
                 adm_segment_bytes(*segment) / 1024);
    return APR_SUCCESS;
}

/* Warn if a reload has raised the limits beyond the capacity of the segment. */
static void warn_of_small_segment(server_rec *s, adm_segment_t *segment)
{
    uint32_t room = adm_segment_sizes(segment).tickets;
    uint64_t needed = tickets_needed();

    if (needed > room) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0110)
                     "the zones can use %" APR_UINT64_T_FMT " tickets, but the "
                     "shared memory has only %u: further requests run without "
                     "a limit until httpd is stopped and started",
                     needed, room);
    }
}

static apr_status_t configure_zone(adm_segment_t *segment,
                                   admission_zone_t *zone)
{
    uint32_t queue_length = (uint32_t)zone->queue_length;

    return zone->max_concurrent.is_auto
               ? adm_segment_configure_auto(segment, zone->name,
                                            (uint32_t)zone->max_concurrent.min,
                                            (uint32_t)zone->limit, queue_length,
                                            &zone->handle)
               : adm_segment_configure(segment, zone->name,
                                       (uint32_t)zone->limit, queue_length,
                                       &zone->handle);
}

/* Log once for all zones. Not for zones beyond ADMISSION_ZONES_MAX:
 * check_config has logged these. */
static void warn_of_full_table(server_rec *s, const admission_zone_t *first,
                               int without)
{
    if (without > 0 && admission_zones()->nelts <= ADMISSION_ZONES_MAX) {
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, s, ADMLOGNO(0102)
                     "zone %s (%s) and %d more: the zone table is full; their "
                     "requests run without a limit until httpd is stopped and "
                     "started",
                     first->name, first->place, without - 1);
    }
}

static void configure_zones(server_rec *s, adm_segment_t *segment)
{
    const apr_array_header_t *zones = admission_zones();
    const admission_zone_t *first = NULL;
    int i, without = 0;

    adm_segment_begin_load(segment);
    for (i = 0; i < zones->nelts; i++) {
        admission_zone_t *zone = APR_ARRAY_IDX(zones, i, admission_zone_t *);
        apr_status_t rv = configure_zone(segment, zone);

        if (rv != APR_SUCCESS) {
            if (without++ == 0) {
                first = zone;
            }
            continue;
        }
        if (adm_segment_use_flows(segment, zone->handle, zone->uses_flows)
            != APR_SUCCESS) {
            ap_log_error(APLOG_MARK, APLOG_ERR, 0, s, ADMLOGNO(0139)
                         "zone %s (%s): the shared memory has no room for more "
                         "zones with AdmissionFair, AdmissionPriority or "
                         "AdmissionCost; its queue is in order of arrival "
                         "until httpd is stopped and started",
                         zone->name, zone->place);
        }
    }
    warn_of_full_table(s, first, without);
    adm_segment_end_load(segment, (uint32_t)admission_capacity_for_zones(s),
                         s->timeout);
}

int admission_lifecycle_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                    apr_pool_t *ptemp, server_rec *s)
{
    adm_segment_t *segment = NULL;
    apr_status_t rv;

    admission_process_use(NULL);
    if (ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG) {
        return OK; /* a trial run: httpd unloads everything after it */
    }
    admission_zones_bound(admission_capacity_for_zones(s));
    rv = find_segment(s, &segment);
    if (rv == APR_SUCCESS) {
        rv = adm_program_watch_forks(segment);
    }
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_CRIT, rv, s, ADMLOGNO(0107)
                     "cannot create the shared memory; httpd does not start");
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    admission_process_use(segment);
    configure_zones(s, segment);
    warn_of_small_segment(s, segment);
    return OK;
}

void admission_lifecycle_child_status(server_rec *s, pid_t pid,
                                      ap_generation_t gen, int slot,
                                      mpm_child_status status)
{
    /* httpd also reports a child that was stopped by SIGSTOP as exited, and
     * forgets it. So check whether the process exists. */
    if (status == MPM_CHILD_EXITED && admission_process_segment()
        && kill(pid, 0) != 0 && errno == ESRCH) {
        adm_child_ended(admission_process_segment(), pid);
    }
}

/* ---- children ------------------------------------------------------------ */

void admission_lifecycle_child_init(apr_pool_t *pchild, server_rec *s)
{
    if (admission_process_segment()) {
        admission_process_register(
            (uint32_t)admission_capacity_query(AP_MPMQ_GENERATION, 0), pchild);
    }
}

void admission_lifecycle_child_stopping(apr_pool_t *pchild, int graceful)
{
    adm_child_t *child = admission_process_own_child();

    /* End all waits, which would delay the child's exit. A graceful stop waits
     * for them. */
    if (child && !graceful) {
        adm_child_stop(child);
    }
}
