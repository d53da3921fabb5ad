/* mod_admission_fields.c - every fact that the module shows of a zone, once. */
#include <http_protocol.h>

#include "config/mod_admission_zones.h"
#include "server/mod_admission_process.h"
#include "view/mod_admission_fields.h"
#include "view/mod_admission_text.h"

#define MSEC(usec) ((apr_int64_t)((usec) / ADM_USEC_PER_MSEC))

static apr_int64_t mean_msec(const adm_durations_t *durations)
{
    return durations->count ? MSEC(durations->sum_usec / durations->count) : 0;
}

#define OF_ZONE(name, expression)                         \
    static apr_int64_t name(const admission_view_t *view) \
    {                                                     \
        return (apr_int64_t)(expression);                 \
    }

#define OUTCOME(value) view->stats.figures.outcomes[ADM_##value]

OF_ZONE(limit, view->stats.limit)

OF_ZONE(limit_configured, view->stats.limit_configured)

OF_ZONE(limit_ordered, view->stats.limit_ordered == ADM_OVERRIDE_NONE
                           ? 0
                           : view->stats.limit_ordered)

OF_ZONE(mode, view->stats.mode)

OF_ZONE(overridden, view->stats.is_overridden)

OF_ZONE(active, view->stats.active)

OF_ZONE(orphans, view->stats.orphans)

OF_ZONE(queued, view->stats.queued)

OF_ZONE(queue_length, view->stats.queue_length)

OF_ZONE(queue_timeout, apr_time_as_msec(view->zone->queue_timeout))

OF_ZONE(queued_max, view->stats.figures.queued_max)

OF_ZONE(oldest_wait, MSEC(view->stats.oldest_wait_usec))

OF_ZONE(admitted, adm_figures_admitted(&view->stats.figures))

OF_ZONE(after_wait, OUTCOME(WAITED) + OUTCOME(DRY_QUEUED))

OF_ZONE(exempt, OUTCOME(EXEMPT))

OF_ZONE(rejected_full, OUTCOME(FULL) + OUTCOME(DRY_FULL))

OF_ZONE(rejected_timeout, OUTCOME(TIMEOUT))

OF_ZONE(rejected_reserve, OUTCOME(RESERVE))

OF_ZONE(rejected_parking, OUTCOME(PARKING))

OF_ZONE(rejected_share, OUTCOME(SHARE))

OF_ZONE(rejected_late, OUTCOME(LATE) + OUTCOME(DRY_LATE))

OF_ZONE(dry_queued, OUTCOME(DRY_QUEUED))

OF_ZONE(dry_wait_mean,
        OUTCOME(DRY_QUEUED) == 0
            ? 0
            : MSEC(view->stats.figures.dry_wait_usec / OUTCOME(DRY_QUEUED)))

OF_ZONE(rejected_drain, OUTCOME(DRAIN))

OF_ZONE(gone, OUTCOME(GONE))

OF_ZONE(reclaimed, view->stats.figures.reclaimed)
OF_ZONE(grants_passed_on, view->stats.figures.grants_passed_on)

OF_ZONE(wait_mean, mean_msec(&view->stats.figures.wait))

OF_ZONE(wait_max, MSEC(view->stats.figures.wait.max_usec))

OF_ZONE(service_mean, mean_msec(&view->stats.figures.service))

OF_ZONE(dry_run, view->zone->dry_run)

OF_ZONE(limit_mode, view->zone->said.is_auto)
OF_ZONE(limit_reason, view->stats.found.reason)
OF_ZONE(limit_min,
        view->zone->said.is_auto ? view->zone->said.min : view->zone->limit)
OF_ZONE(limit_max, view->zone->limit)
OF_ZONE(limit_since, view->stats.found.since_sec)
OF_ZONE(limit_memory, view->stats.found.memory_cap)
OF_ZONE(limit_trial, view->stats.found.trial)
OF_ZONE(limit_brakes, view->stats.found.brakes)
OF_ZONE(program_mb, view->stats.found.program_mb)
OF_ZONE(largest_mb, view->stats.found.largest_mb)
OF_ZONE(budget_mb, view->stats.found.budget_mb)
OF_ZONE(processors_busy, view->stats.found.busy_permille / 10)

#define ACCOUNT view->stats.figures.account

static apr_int64_t mean(const admission_view_t *view,
                        const adm_spread_t *spread)
{
    return ACCOUNT.count ? (apr_int64_t)(spread->sum / ACCOUNT.count) : 0;
}

OF_ZONE(programs, ACCOUNT.count)
OF_ZONE(memory_mean, mean(view, &ACCOUNT.peak_kb))
OF_ZONE(memory_p95, adm_spread_percentile(&ACCOUNT.peak_kb, 95))
OF_ZONE(memory_max, ACCOUNT.peak_kb.max)
OF_ZONE(processor_mean, mean(view, &ACCOUNT.processor_msec))
OF_ZONE(processor_p95, adm_spread_percentile(&ACCOUNT.processor_msec, 95))
OF_ZONE(processor_max, ACCOUNT.processor_msec.max)
OF_ZONE(faults_mean, mean(view, &ACCOUNT.faults))
OF_ZONE(faults_p95, adm_spread_percentile(&ACCOUNT.faults, 95))
OF_ZONE(faults_max, ACCOUNT.faults.max)
OF_ZONE(room, memory_p95(view) > 0
                  ? (apr_int64_t)view->stats.available_kb / memory_p95(view)
                  : 0)

OF_ZONE(rejected_fleet, OUTCOME(FLEET))
OF_ZONE(fleet_state, view->stats.fleet.state)
OF_ZONE(fleet_limit, view->stats.fleet.limit)
OF_ZONE(fleet_share, view->stats.fleet.share)
OF_ZONE(fleet_granted, view->stats.fleet.granted)
OF_ZONE(fleet_servers, view->stats.fleet.servers)
OF_ZONE(fleet_reserved, view->stats.fleet.reserved)
OF_ZONE(fleet_wanted, view->stats.fleet.wanted)
OF_ZONE(fleet_lease, MSEC(view->stats.fleet.lease_usec))
OF_ZONE(fleet_learning, MSEC(view->stats.fleet.learning_usec))

#define GAUGE ADMISSION_GAUGE
#define MILLIS ADMISSION_GAUGE_MSEC
#define SECONDS ADMISSION_GAUGE_SEC
#define KILOBYTES ADMISSION_GAUGE_KB
#define MEGABYTES ADMISSION_GAUGE_MB
#define PERCENT ADMISSION_GAUGE_PERCENT
#define COUNTER ADMISSION_COUNTER
#define MODE ADMISSION_MODE
#define KIND ADMISSION_KIND
#define REASON ADMISSION_REASON
#define FLEET ADMISSION_FLEET

#define OF_ANY ADMISSION_OF_ANY
#define OF_DRY_RUN ADMISSION_OF_DRY_RUN
#define OF_AUTO ADMISSION_OF_AUTO
#define OF_PROGRAMS ADMISSION_OF_PROGRAMS
#define OF_FLEET ADMISSION_OF_FLEET

const admission_field_t admission_zone_fields[] = {
    { "Limit", "Limit", "limit", "limit", NULL,
      "Requests of the zone that may run at once.", GAUGE, limit, NULL,
      OF_ANY },
    { "LimitConfigured", "configured", "limitConfigured", "limit_configured",
      NULL, "What MaxConcurrent says.", GAUGE, limit_configured, NULL, OF_ANY },
    { "LimitOrdered", "ordered", "limitOrdered", "limit_ordered", NULL,
      "Limit set by an administrator's order; 0 if there is none.", GAUGE,
      limit_ordered, NULL, OF_ANY },
    { "Mode", "Mode", "mode", "mode", NULL,
      "What happens to new requests: open, pause or drain.", MODE, mode, NULL,
      OF_ANY },
    { "Overridden", "Overridden", "overridden", "overridden", NULL,
      "Whether an administrator's order holds instead of the configuration.",
      GAUGE, overridden, NULL, OF_ANY },
    { "Active", "Active", "active", "active", NULL,
      "Requests of the zone that hold a permit.", GAUGE, active, NULL, OF_ANY },
    { "Orphans", "Orphans", "orphans", "orphans", NULL,
      "Permits held by programs whose httpd child is dead.", GAUGE, orphans,
      NULL, OF_ANY },
    { "Queued", "Queued", "queued", "queued", NULL, "Requests that wait.",
      GAUGE, queued, NULL, OF_ANY },
    { "QueueLength", "of", "queueLength", "queue_length", NULL,
      "Requests that may wait.", GAUGE, queue_length, NULL, OF_ANY },
    { "QueueTimeoutMs", "for ms", "queueTimeoutMs", "queue_timeout", NULL,
      "How long a request may wait.", MILLIS, queue_timeout, NULL, OF_ANY },
    { "QueuedMax", "Max", "queuedMax", "queued_max", NULL,
      "Most requests that ever waited at once.", GAUGE, queued_max, NULL,
      OF_ANY },
    { "OldestWaitMs", "Oldest wait ms", "oldestWaitMs", "oldest_wait", NULL,
      "How long the first in the queue has waited.", MILLIS, oldest_wait, NULL,
      OF_ANY },
    { "Admitted", "Admitted", "admitted", "admitted", NULL,
      "Requests that got a permit.", COUNTER, admitted, NULL, OF_ANY },
    { "AdmittedAfterWait", "after wait", "admittedAfterWait",
      "admitted_after_wait", NULL, "Of these, how many had to wait.", COUNTER,
      after_wait, NULL, OF_ANY },
    { "Exempt", "Exempt", "exempt", "exempt", NULL,
      "Requests that ran without a permit because of AdmissionExempt.", COUNTER,
      exempt, NULL, OF_ANY },
    { "RejectedFull", "Rejected full", "rejectedFull", "rejected", "full",
      "Requests that were rejected.", COUNTER, rejected_full, NULL, OF_ANY },
    { "RejectedTimeout", "timeout", "rejectedTimeout", "rejected", "timeout",
      "Requests that were rejected.", COUNTER, rejected_timeout, NULL, OF_ANY },
    { "RejectedReserve", "reserve", "rejectedReserve", "rejected", "reserve",
      "Requests that were rejected.", COUNTER, rejected_reserve, NULL, OF_ANY },
    { "RejectedParking", "parking", "rejectedParking", "rejected", "parking",
      "Requests that were rejected.", COUNTER, rejected_parking, NULL, OF_ANY },
    { "RejectedLate", "late", "rejectedLate", "rejected", "late",
      "Requests that were rejected.", COUNTER, rejected_late, NULL, OF_ANY },
    { "RejectedShare", "share", "rejectedShare", "rejected", "share",
      "Requests that were rejected.", COUNTER, rejected_share, NULL, OF_ANY },
    { "RejectedDrain", "drain", "rejectedDrain", "rejected", "drain",
      "Requests that were rejected.", COUNTER, rejected_drain, NULL, OF_ANY },
    { "RejectedFleet", "fleet", "rejectedFleet", "rejected", "fleet",
      "Requests that were rejected.", COUNTER, rejected_fleet, NULL, OF_FLEET },
    { "Gone", "Gone", "gone", "gone", NULL,
      "Requests whose client left while they waited.", COUNTER, gone, NULL,
      OF_ANY },
    { "Reclaimed", "Reclaimed", "reclaimed", "reclaimed", NULL,
      "Permits and places taken back from dead children.", COUNTER, reclaimed,
      NULL, OF_ANY },
    { "GrantsPassedOn", "Passed on", "grantsPassedOn", "grants_passed_on", NULL,
      "Permits that a waiter won, could not use and lost to another.", COUNTER,
      grants_passed_on, NULL, OF_ANY },
    { "WaitMeanMs", "Wait mean ms", "waitMeanMs", "wait_mean", NULL,
      "Mean wait of requests that waited and got a permit.", MILLIS, wait_mean,
      NULL, OF_ANY },
    { "WaitMaxMs", "max", "waitMaxMs", "wait_max", NULL,
      "Longest wait of a request that got a permit.", MILLIS, wait_max, NULL,
      OF_ANY },
    { "ServiceMeanMs", "Service mean ms", "serviceMeanMs", "service_mean", NULL,
      "Mean time that a permit was held.", MILLIS, service_mean, NULL, OF_ANY },
    { "DryRun", "Dry run", "dryRun", "dry_run", NULL,
      "Whether the zone only counts.", GAUGE, dry_run, NULL, OF_ANY },
    { "DryQueued", "Would have waited", "dryQueued", "dry_queued", NULL,
      "Requests of a dry run that would have waited.", COUNTER, dry_queued,
      NULL, OF_DRY_RUN },
    { "DryWaitMeanMs", "mean ms", "dryWaitMeanMs", "dry_wait_mean", NULL,
      "Estimated mean wait of these requests.", MILLIS, dry_wait_mean, NULL,
      OF_DRY_RUN },
    { "LimitMode", "Limit is", "limitMode", "limit_mode", NULL,
      "Whether the limit is fixed or set by auto.", KIND, limit_mode, NULL,
      OF_ANY },
    { "LimitReason", "because of", "limitReason", "limit_reason", NULL,
      "Why auto has set this limit.", REASON, limit_reason, NULL, OF_AUTO },
    { "LimitMin", "from", "limitMin", "limit_min", NULL,
      "The least that the limit can be.", GAUGE, limit_min, NULL, OF_AUTO },
    { "LimitMax", "to", "limitMax", "limit_max", NULL,
      "The most that the limit can be.", GAUGE, limit_max, NULL, OF_AUTO },
    { "LimitSinceS", "since s", "limitSinceS", "limit_since", NULL,
      "Seconds since auto last changed the limit.", SECONDS, limit_since, NULL,
      OF_AUTO },
    { "LimitMemory", "by memory", "limitMemory", "limit_memory", NULL,
      "Programs that fit into memory.", GAUGE, limit_memory, NULL, OF_AUTO },
    { "LimitTrial", "Trial", "limitTrial", "limit_trial", NULL,
      "The limit that is being tried; 0, none is.", GAUGE, limit_trial, NULL,
      OF_AUTO },
    { "LimitBrakes", "Brakes", "limitBrakes", "limit_brakes", NULL,
      "Times that the limit was lowered because memory ran out.", COUNTER,
      limit_brakes, NULL, OF_AUTO },
    { "ProgramMB", "Program MB", "programMB", "program", NULL,
      "Memory that the next program is expected to need; 0, not known.",
      MEGABYTES, program_mb, NULL, OF_AUTO },
    { "ProgramLargestMB", "largest MB", "programLargestMB", "program_largest",
      NULL, "Memory of the largest program lately.", MEGABYTES, largest_mb,
      NULL, OF_AUTO },
    { "MemoryBudgetMB", "of MB", "memoryBudgetMB", "memory_budget", NULL,
      "Memory that all programs of the zone may need together.", MEGABYTES,
      budget_mb, NULL, OF_AUTO },
    { "ProcessorsBusy", "Processors %", "processorsBusy", "processors_busy",
      NULL, "Percent of the processors that are busy.", PERCENT,
      processors_busy, NULL, OF_AUTO },
    { "ProgramsEnded", "Programs ended", "programsEnded", "programs_ended",
      NULL, "Programs that have ended, and whose use is known.", COUNTER,
      programs, NULL, OF_ANY },
    { "ProgramMemoryMeanKB", "Memory mean KB", "programMemoryMeanKB",
      "program_memory_mean", NULL,
      "Mean of the most memory that each of them had.", KILOBYTES, memory_mean,
      NULL, OF_PROGRAMS },
    { "ProgramMemoryP95KB", "95 % KB", "programMemoryP95KB",
      "program_memory_p95", NULL, "Estimated 95th percentile of their memory.",
      KILOBYTES, memory_p95, NULL, OF_PROGRAMS },
    { "ProgramMemoryMaxKB", "max KB", "programMemoryMaxKB",
      "program_memory_max", NULL, "Most memory that any of them had.",
      KILOBYTES, memory_max, NULL, OF_PROGRAMS },
    { "ProgramProcessorMeanMs", "Processor mean ms", "programProcessorMeanMs",
      "program_processor_mean", NULL, "Mean processor time of each of them.",
      MILLIS, processor_mean, NULL, OF_PROGRAMS },
    { "ProgramProcessorP95Ms", "95 % ms", "programProcessorP95Ms",
      "program_processor_p95", NULL,
      "Estimated 95th percentile of their processor time.", MILLIS,
      processor_p95, NULL, OF_PROGRAMS },
    { "ProgramProcessorMaxMs", "longest ms", "programProcessorMaxMs",
      "program_processor_max", NULL, "Most processor time of any of them.",
      MILLIS, processor_max, NULL, OF_PROGRAMS },
    { "ProgramFaultsMean", "Faults mean", "programFaultsMean",
      "program_faults_mean", NULL,
      "Mean of the page faults for which each of them waited for the disk.",
      GAUGE, faults_mean, NULL, OF_PROGRAMS },
    { "ProgramFaultsP95", "95 %", "programFaultsP95", "program_faults_p95",
      NULL, "Estimated 95th percentile of such faults.", GAUGE, faults_p95,
      NULL, OF_PROGRAMS },
    { "ProgramFaultsMax", "most", "programFaultsMax", "program_faults_max",
      NULL, "Most such faults of any of them.", GAUGE, faults_max, NULL,
      OF_PROGRAMS },
    { "ProgramRoom", "Room for", "programRoom", "program_room", NULL,
      "Programs of the 95th percentile's size that fit into free memory.",
      GAUGE, room, NULL, OF_PROGRAMS },
    { "FleetState", "Fleet", "fleetState", "fleet_state", NULL,
      "Whether the limit is one over servers, and what its share is.", FLEET,
      fleet_state, NULL, OF_ANY },
    { "FleetLimit", "limit of all", "fleetLimit", "fleet_limit", NULL,
      "The limit over all servers, the least that any of them states.", GAUGE,
      fleet_limit, NULL, OF_FLEET },
    { "FleetShare", "of it here", "fleetShare", "fleet_share", NULL,
      "Part of it that this server may use.", GAUGE, fleet_share, NULL,
      OF_FLEET },
    { "FleetGranted", "granted", "fleetGranted", "fleet_granted", NULL,
      "This share, and what the server still has to give back.", GAUGE,
      fleet_granted, NULL, OF_FLEET },
    { "FleetServers", "Servers", "fleetServers", "fleet_servers", NULL,
      "Servers that share the limit.", GAUGE, fleet_servers, NULL, OF_FLEET },
    { "FleetReserved", "granted to all", "fleetReserved", "fleet_reserved",
      NULL, "Permits granted to all servers together.", GAUGE, fleet_reserved,
      NULL, OF_FLEET },
    { "FleetWanted", "wanted by all", "fleetWanted", "fleet_wanted", NULL,
      "Permits that all servers together could use.", GAUGE, fleet_wanted, NULL,
      OF_FLEET },
    { "FleetLeaseMs", "Lease left ms", "fleetLeaseMs", "fleet_lease", NULL,
      "How long this server's share still holds.", MILLIS, fleet_lease, NULL,
      OF_FLEET },
    { "FleetLearningMs", "Learning ms", "fleetLearningMs", "fleet_learning",
      NULL, "How long the engine still learns who has what.", MILLIS,
      fleet_learning, NULL, OF_FLEET }
};

const int admission_zone_fields_count = sizeof(admission_zone_fields)
                                        / sizeof(*admission_zone_fields);

const admission_unit_t *admission_fields_unit(admission_kind_t kind)
{
    static const admission_unit_t none = { "", "", 1, 1 };
    static const admission_unit_t units[] = {
        [ADMISSION_GAUGE_USEC] = { "Us", "_seconds", 1, 1000000 },
        [ADMISSION_GAUGE_MSEC] = { "Ms", "_seconds", 1, 1000 },
        [ADMISSION_GAUGE_SEC] = { "S", "_seconds", 1, 1 },
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
        return view->zone->is_fleet;
    default:
        return true;
    }
}

const char *admission_fields_word(const admission_field_t *field,
                                  apr_int64_t value)
{
    const adm_auto_t found = { .reason = (uint32_t)value };

    switch (field->kind) {
    case ADMISSION_MODE:
        return adm_mode_name((adm_mode_t)value);
    case ADMISSION_KIND:
        return value ? "auto" : "fixed";
    case ADMISSION_ENGINE:
        return adm_engine_state_name((adm_engine_state_t)value);
    case ADMISSION_FLEET:
        return adm_fleet_state_name((adm_fleet_state_t)value);
    case ADMISSION_REASON:
        return adm_auto_reason(&found);
    default:
        return NULL;
    }
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
    /* Whoever looks must not see what the dead hold. */
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
