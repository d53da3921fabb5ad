/* view_fields.c - all facts that the module shows about a zone, once each. */
#include <http_protocol.h>

#include "module/part.h"
#include "module/zones.h"
#include "module/process.h"
#include "view_fields.h"
#include "view_text.h"

#define MSEC(usec) ((apr_int64_t)((usec) / ADM_USEC_PER_MSEC))

static apr_int64_t mean_msec(const adm_durations_t *durations)
{
    return durations->count ? MSEC(durations->sum_usec / durations->count) : 0;
}

#define OUTCOME(value) view->stats.figures.outcomes[ADM_##value]

#define ACCOUNT view->stats.figures.account

static apr_int64_t mean(const admission_view_t *view,
                        const adm_spread_t *spread)
{
    return ACCOUNT.count ? (apr_int64_t)(spread->sum / ACCOUNT.count) : 0;
}

static apr_int64_t programs_that_fit(const admission_view_t *view)
{
    apr_uint64_t kb = adm_spread_percentile(&ACCOUNT.peak_kb, 95);

    return kb > 0 ? (apr_int64_t)(view->stats.available_kb / kb) : 0;
}

static const char *mode_word(apr_int64_t mode)
{
    return adm_mode_name((adm_mode_t)mode);
}

static const char *limit_word(apr_int64_t is_auto)
{
    return is_auto ? "auto" : "fixed";
}

/* row(name, reason, kind, of, help, value of "view") */
/* clang-format off */
#define ZONE_FIELDS(row) \
    row(Limit, NULL, GAUGE, ANY, \
        "Maximum number of concurrent requests of the zone.", \
        view->stats.limit) \
    row(LimitConfigured, NULL, GAUGE, ANY, \
        "Limit that MaxConcurrent sets.", \
        view->stats.limit_configured) \
    row(LimitOrdered, NULL, GAUGE, ANY, \
        "Limit that an override sets; 0 if there is none.", \
        view->stats.limit_ordered == ADM_OVERRIDE_NONE \
            ? 0 : view->stats.limit_ordered) \
    row(Mode, NULL, WORD(mode_word), ANY, \
        "What happens to new requests: open, pause or drain.", \
        view->stats.mode) \
    row(Overridden, NULL, GAUGE, ANY, \
        "Whether an override is in force.", \
        view->stats.is_overridden) \
    row(Active, NULL, GAUGE, ANY, \
        "Requests of the zone that hold a permit.", \
        view->stats.active) \
    row(Orphans, NULL, GAUGE, ANY, \
        "Permits held by programs whose httpd child is dead.", \
        view->stats.orphans) \
    row(Queued, NULL, GAUGE, ANY, \
        "Waiting requests.", \
        view->stats.queued) \
    row(QueueLength, NULL, GAUGE, ANY, \
        "Maximum number of waiting requests.", \
        view->stats.queue_length) \
    row(QueueTimeoutMs, NULL, GAUGE_MSEC, ANY, \
        "Maximum time that a request waits.", \
        apr_time_as_msec(view->zone->queue_timeout)) \
    row(QueuedMax, NULL, GAUGE, ANY, \
        "Highest number of waiting requests.", \
        view->stats.figures.queued_max) \
    row(OldestWaitMs, NULL, GAUGE_MSEC, ANY, \
        "How long the first in the queue has waited.", \
        MSEC(view->stats.oldest_wait_usec)) \
    row(Admitted, NULL, COUNTER, ANY, \
        "Requests that got a permit.", \
        adm_figures_admitted(&view->stats.figures)) \
    row(AdmittedAfterWait, NULL, COUNTER, ANY, \
        "Admitted requests that had to wait.", \
        OUTCOME(WAITED) + OUTCOME(DRY_QUEUED)) \
    row(Exempt, NULL, COUNTER, ANY, \
        "Requests that ran without a permit because of AdmissionExempt.", \
        OUTCOME(EXEMPT)) \
    row(RejectedFull, "full", COUNTER, ANY, \
        "Requests that were rejected.", \
        OUTCOME(FULL) + OUTCOME(DRY_FULL)) \
    row(RejectedTimeout, "timeout", COUNTER, ANY, \
        "Requests that were rejected.", \
        OUTCOME(TIMEOUT)) \
    row(RejectedReserve, "reserve", COUNTER, ANY, \
        "Requests that were rejected.", \
        OUTCOME(RESERVE)) \
    row(RejectedParking, "parking", COUNTER, ANY, \
        "Requests that were rejected.", \
        OUTCOME(PARKING)) \
    row(RejectedLate, "late", COUNTER, ANY, \
        "Requests that were rejected.", \
        OUTCOME(LATE) + OUTCOME(DRY_LATE)) \
    row(RejectedShare, "share", COUNTER, ANY, \
        "Requests that were rejected.", \
        OUTCOME(SHARE)) \
    row(RejectedDrain, "drain", COUNTER, ANY, \
        "Requests that were rejected.", \
        OUTCOME(DRAIN)) \
    row(RejectedFleet, "fleet", COUNTER, FLEET, \
        "Requests that were rejected.", \
        OUTCOME(FLEET)) \
    row(Gone, NULL, COUNTER, ANY, \
        "Requests whose client disconnected while they waited.", \
        OUTCOME(GONE)) \
    row(Reclaimed, NULL, COUNTER, ANY, \
        "Permits and queue slots reclaimed from dead children.", \
        view->stats.figures.reclaimed) \
    row(GrantsPassedOn, NULL, COUNTER, ANY, \
        "Permits revoked because the request could not start in time.", \
        view->stats.figures.grants_passed_on) \
    row(WaitMeanMs, NULL, GAUGE_MSEC, ANY, \
        "Mean wait of requests that waited and got a permit.", \
        mean_msec(&view->stats.figures.wait)) \
    row(WaitMaxMs, NULL, GAUGE_MSEC, ANY, \
        "Longest wait of a request that got a permit.", \
        MSEC(view->stats.figures.wait.max_usec)) \
    row(ServiceMeanMs, NULL, GAUGE_MSEC, ANY, \
        "Mean time that a permit was held.", \
        mean_msec(&view->stats.figures.service)) \
    row(DryRun, NULL, GAUGE, ANY, \
        "Whether the zone only counts.", \
        view->zone->dry_run) \
    row(DryQueued, NULL, COUNTER, DRY_RUN, \
        "Requests of a dry run that would have waited.", \
        OUTCOME(DRY_QUEUED)) \
    row(DryWaitMeanMs, NULL, GAUGE_MSEC, DRY_RUN, \
        "Estimated mean wait of these requests.", \
        OUTCOME(DRY_QUEUED) == 0 ? 0 \
            : MSEC(view->stats.figures.dry_wait_usec / OUTCOME(DRY_QUEUED))) \
    row(LimitMode, NULL, WORD(limit_word), ANY, \
        "Whether the limit is fixed or set by auto.", \
        view->zone->said.is_auto) \
    row(LimitMin, NULL, GAUGE, AUTO, \
        "Minimum of the limit.", \
        view->zone->said.is_auto ? view->zone->said.min : view->zone->limit) \
    row(LimitMax, NULL, GAUGE, AUTO, \
        "Maximum of the limit.", \
        view->zone->limit) \
    row(ProgramsEnded, NULL, COUNTER, ANY, \
        "Programs that have exited and were measured.", \
        ACCOUNT.count) \
    row(ProgramMemoryMeanKB, NULL, GAUGE_KB, PROGRAMS, \
        "Mean peak memory of a program.", \
        mean(view, &ACCOUNT.peak_kb)) \
    row(ProgramMemoryP95KB, NULL, GAUGE_KB, PROGRAMS, \
        "Estimated 95th percentile of the peak memory.", \
        adm_spread_percentile(&ACCOUNT.peak_kb, 95)) \
    row(ProgramMemoryMaxKB, NULL, GAUGE_KB, PROGRAMS, \
        "Highest peak memory of a program.", \
        ACCOUNT.peak_kb.max) \
    row(ProgramProcessorMeanMs, NULL, GAUGE_MSEC, PROGRAMS, \
        "Mean CPU time of a program.", \
        mean(view, &ACCOUNT.processor_msec)) \
    row(ProgramProcessorP95Ms, NULL, GAUGE_MSEC, PROGRAMS, \
        "Estimated 95th percentile of the CPU time.", \
        adm_spread_percentile(&ACCOUNT.processor_msec, 95)) \
    row(ProgramProcessorMaxMs, NULL, GAUGE_MSEC, PROGRAMS, \
        "Highest CPU time of a program.", \
        ACCOUNT.processor_msec.max) \
    row(ProgramFaultsMean, NULL, GAUGE, PROGRAMS, \
        "Mean number of major page faults of a program.", \
        mean(view, &ACCOUNT.faults)) \
    row(ProgramFaultsP95, NULL, GAUGE, PROGRAMS, \
        "Estimated 95th percentile of major page faults.", \
        adm_spread_percentile(&ACCOUNT.faults, 95)) \
    row(ProgramFaultsMax, NULL, GAUGE, PROGRAMS, \
        "Highest number of major page faults of a program.", \
        ACCOUNT.faults.max) \
    row(ProgramRoom, NULL, GAUGE, PROGRAMS, \
        "Programs of the 95th percentile's size that fit into free memory.", \
        programs_that_fit(view))
/* clang-format on */

ZONE_FIELDS(ADMISSION_ZONE_VALUE)

static const admission_field_t own_fields[] = { ZONE_FIELDS(
    ADMISSION_ZONE_ROW) };

#define OWN_COUNT ((int)(sizeof(own_fields) / sizeof(*own_fields)))

const admission_field_t *admission_fields_of_zone(int n)
{
    int part;

    if (n < OWN_COUNT) {
        return &own_fields[n];
    }
    n -= OWN_COUNT;
    for (part = 0; part < ADMISSION_PARTS_NUMBER; part++) {
        const admission_field_t *field = admission_parts[part]->zone_fields;

        for (; field && field->name; field++) {
            if (n-- == 0) {
                return field;
            }
        }
    }
    return NULL;
}

const admission_unit_t *admission_fields_unit(admission_kind_t kind)
{
    static const admission_unit_t none = { "", "", 1, 1 };
    static const admission_unit_t units[] = {
        [ADMISSION_GAUGE_USEC] = { "Us", "_seconds", 1, 1000000 },
        [ADMISSION_GAUGE_MSEC] = { "Ms", "_seconds", 1, 1000 },
        [ADMISSION_GAUGE_SEC] = { "S", "_seconds", 1, 1 },
        [ADMISSION_GAUGE_BYTES] = { "", "_bytes", 1, 1 },
        [ADMISSION_GAUGE_KB] = { "KB", "_bytes", 1024, 1 },
        [ADMISSION_GAUGE_MB] = { "MB", "_bytes", 1024 * 1024, 1 },
        [ADMISSION_GAUGE_PERCENT] = { "", "_ratio", 1, 100 },
        [ADMISSION_COUNTER] = { "", "_total", 1, 1 }
    };

    return kind < sizeof(units) / sizeof(*units) && units[kind].name
               ? &units[kind]
               : &none;
}

bool admission_fields_tells(const admission_field_t *field,
                            const admission_view_t *view)
{
    switch (field->of) {
    case ADMISSION_OF_DRY_RUN:
        return view->zone->dry_run;
    case ADMISSION_OF_AUTO:
        return view->zone->said.is_auto;
    case ADMISSION_OF_PROGRAMS:
        return ACCOUNT.count > 0;
    case ADMISSION_OF_FLEET:
        return view->zone->is_shared;
    default:
        return true;
    }
}

const char *admission_fields_word(const admission_field_t *field,
                                  apr_int64_t value)
{
    return field->word ? field->word(value) : NULL;
}

void admission_fields_write(request_rec *r, const admission_field_t *field,
                            apr_int64_t value)
{
    const char *word = admission_fields_word(field, value);

    if (word) {
        ap_rputs(word, r);
    }
    else {
        ap_rprintf(r, "%" APR_INT64_T_FMT, value);
    }
}

void admission_fields_look_at_server(adm_server_stats_t *server)
{
    /* Reclaim first, so that the permits of dead children are not shown. */
    adm_round_to_show(admission_process_child(), adm_now());
    adm_view_server(admission_process_segment(), server);
}

void admission_fields_look_at(const admission_zone_t *zone,
                              admission_view_t *view, adm_history_t *history)
{
    *view = (admission_view_t){ .zone = zone };
    view->stats.limit = (uint32_t)zone->limit;
    view->is_busy = adm_view_zone(admission_process_child(), zone->handle,
                                  adm_now(), &view->stats, history)
                    == ADM_ZONE_BUSY;
}

const apr_array_header_t *admission_fields_zones(apr_pool_t *p,
                                                 const admission_zone_t *only)
{
    apr_array_header_t *zones;

    if (!only) {
        return admission_zones();
    }
    zones = apr_array_make(p, 1, sizeof(only));
    APR_ARRAY_PUSH(zones, const admission_zone_t *) = only;
    return zones;
}

const admission_zone_t *admission_fields_find_zone(apr_pool_t *p,
                                                   const char *name)
{
    const apr_array_header_t *zones = admission_fields_zones(p, NULL);
    const admission_zone_t *shown_so = NULL;
    int i;

    for (i = 0; i < zones->nelts; i++) {
        const admission_zone_t *zone = APR_ARRAY_IDX(zones, i,
                                                     admission_zone_t *);
        const char *utf8 = admission_text_utf8(p, zone->name);

        if (strcmp(zone->name, name) == 0) {
            return zone;
        }
        if (utf8 != zone->name && strcmp(utf8, name) == 0) {
            shown_so = zone;
        }
    }
    return shown_so;
}
