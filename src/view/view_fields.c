/* view_fields.c - all facts that the module shows, once each. */
#include <apr_strings.h>
#include <http_protocol.h>

#include "module/part.h"
#include "module/capacity.h"
#include "module/zones.h"
#include "module/process.h"
#include "view_fields.h"
#include "view_text.h"

#define MSEC(usec) ((apr_int64_t)((usec) / ADM_USEC_PER_MSEC))

/* Titles of groups of facts. */
#define IN_GENERAL "Numbers of the limit, the queue and requests"

void admission_fields_add(admission_facts_t *facts,
                          const admission_field_t *field, apr_int64_t value,
                          const char *word)
{
    if (facts->count < ADMISSION_FACTS_MAX) {
        facts->fact[facts->count++] = (admission_fact_t){ field, value, word,
                                                          facts->group };
    }
}

/* ---- of a zone ----------------------------------------------------------- */

static void limit_of_zone(const admission_view_t *view,
                          admission_facts_t *facts)
{
    const admission_zone_t *zone = view->zone;
    const adm_zone_stats_t *stats = &view->stats;

    facts->group = IN_GENERAL;
    FACT(Limit, GAUGE, "Maximum number of concurrent requests of the zone.",
         stats->limit);
    FACT(LimitConfigured, GAUGE, "Limit that MaxConcurrent sets.",
         stats->limit_configured);
    FACT(LimitOrdered, GAUGE,
         "Limit that an override sets; 0 if there is none.",
         stats->limit_override == ADM_OVERRIDE_NONE ? 0
                                                    : stats->limit_override);
    FACT_WORD(Mode, "What happens to new requests: open, pause or drain.",
              stats->mode, adm_mode_name(stats->mode));
    FACT(Overridden, GAUGE, "Whether an override is in force.",
         stats->is_overridden);
    FACT(Active, GAUGE, "Requests of the zone that hold a permit.",
         stats->active);
    FACT(Orphans, GAUGE,
         "Permits held by programs whose request or httpd child has ended.",
         stats->orphans);
    FACT(Queued, GAUGE, "Waiting requests.", stats->queued);
    FACT(QueueLength, GAUGE, "Maximum number of waiting requests.",
         stats->queue_length);
    FACT(QueueTimeoutMs, GAUGE_MSEC, "Maximum time that a request waits.",
         apr_time_as_msec(zone->queue->timeout));
    FACT(QueuedMax, GAUGE, "Highest number of waiting requests.",
         stats->figures.queued_max);
    FACT(OldestWaitMs, GAUGE_MSEC,
         "How long the first in the queue has waited.",
         MSEC(stats->oldest_wait_usec));
}

static apr_int64_t mean_msec(const adm_durations_t *durations)
{
    return durations->count ? MSEC(durations->sum_usec / durations->count) : 0;
}

#define OUTCOME(value) figures->outcomes[ADM_##value]

static void requests_of_zone(const admission_view_t *view,
                             admission_facts_t *facts)
{
    const admission_zone_t *zone = view->zone;
    const adm_figures_t *figures = &view->stats.figures;

    FACT(Admitted, COUNTER, "Requests that got a permit.",
         adm_figures_admitted(figures));
    FACT(AdmittedAfterWait, COUNTER, "Admitted requests that had to wait.",
         OUTCOME(WAITED) + OUTCOME(DRY_QUEUED));
    FACT(Exempt, COUNTER,
         "Requests that ran without a permit because of AdmissionExempt.",
         OUTCOME(EXEMPT));
    FACT_REJECTED(RejectedFull, "full", OUTCOME(FULL) + OUTCOME(DRY_FULL));
    FACT_REJECTED(RejectedTimeout, "timeout", OUTCOME(TIMEOUT));
    FACT_REJECTED(RejectedReserve, "reserve", OUTCOME(RESERVE));
    FACT_REJECTED(RejectedParking, "parking", OUTCOME(PARKING));
    FACT_REJECTED(RejectedLate, "late", OUTCOME(LATE) + OUTCOME(DRY_LATE));
    FACT_REJECTED(RejectedShare, "share", OUTCOME(SHARE));
    FACT_REJECTED(RejectedDrain, "drain", OUTCOME(DRAIN));
    facts->group = zone->is_shared ? IN_GENERAL : NULL;
    FACT_REJECTED(RejectedFleet, "fleet", OUTCOME(FLEET));
    facts->group = IN_GENERAL;
    FACT(Gone, COUNTER, "Requests whose client disconnected while they waited.",
         OUTCOME(GONE));
    FACT(Reclaimed, COUNTER,
         "Permits and queue slots reclaimed from dead children.",
         figures->reclaimed);
    FACT(GrantsPassedOn, COUNTER,
         "Permits revoked because the request could not start in time.",
         figures->grants_passed_on);
    FACT(WaitMeanMs, GAUGE_MSEC,
         "Mean wait of requests that waited and got a permit.",
         mean_msec(&figures->wait));
    FACT(WaitMaxMs, GAUGE_MSEC, "Longest wait of a request that got a permit.",
         MSEC(figures->wait.max_usec));
    FACT(ServiceMeanMs, GAUGE_MSEC, "Mean time that a permit was held.",
         mean_msec(&figures->service));
    FACT(DryRun, GAUGE, "Whether the zone only counts.", zone->dry_run);
    facts->group = zone->dry_run ? "Numbers of the dry run" : NULL;
    FACT(DryQueued, COUNTER, "Requests of a dry run that would have waited.",
         OUTCOME(DRY_QUEUED));
    FACT(DryWaitMeanMs, GAUGE_MSEC, "Estimated mean wait of these requests.",
         OUTCOME(DRY_QUEUED) == 0
             ? 0
             : MSEC(figures->dry_wait_usec / OUTCOME(DRY_QUEUED)));
    facts->group = IN_GENERAL;
    FACT_WORD(LimitMode, "Whether the limit is fixed or set by auto.",
              zone->max_concurrent.is_auto,
              zone->max_concurrent.is_auto ? "auto" : "fixed");
}

static apr_int64_t mean(const adm_account_t *account,
                        const adm_spread_t *spread)
{
    return account->count ? (apr_int64_t)(spread->sum / account->count) : 0;
}

static apr_int64_t programs_that_fit(const adm_zone_stats_t *stats)
{
    apr_uint64_t kb = adm_spread_percentile(&stats->figures.account.peak_kb,
                                            95);

    return kb > 0 ? (apr_int64_t)(stats->available_kb / kb) : 0;
}

static void programs_of_zone(const admission_view_t *view,
                             admission_facts_t *facts)
{
    const adm_account_t *account = &view->stats.figures.account;

    FACT(ProgramsEnded, COUNTER, "Programs that have exited and were measured.",
         account->count);
    facts->group = account->count > 0 ? "Numbers of programs" : NULL;
    FACT(ProgramMemoryMeanKB, GAUGE_KB, "Mean peak memory of a program.",
         mean(account, &account->peak_kb));
    FACT(ProgramMemoryP95KB, GAUGE_KB,
         "Estimated 95th percentile of the peak memory.",
         adm_spread_percentile(&account->peak_kb, 95));
    FACT(ProgramMemoryMaxKB, GAUGE_KB, "Highest peak memory of a program.",
         account->peak_kb.max);
    FACT(ProgramProcessorMeanMs, GAUGE_MSEC, "Mean CPU time of a program.",
         mean(account, &account->processor_msec));
    FACT(ProgramProcessorP95Ms, GAUGE_MSEC,
         "Estimated 95th percentile of the CPU time.",
         adm_spread_percentile(&account->processor_msec, 95));
    FACT(ProgramProcessorMaxMs, GAUGE_MSEC, "Highest CPU time of a program.",
         account->processor_msec.max);
    FACT(ProgramFaultsMean, GAUGE,
         "Mean number of major page faults of a program.",
         mean(account, &account->faults));
    FACT(ProgramFaultsP95, GAUGE,
         "Estimated 95th percentile of major page faults.",
         adm_spread_percentile(&account->faults, 95));
    FACT(ProgramFaultsMax, GAUGE,
         "Highest number of major page faults of a program.",
         account->faults.max);
    FACT(ProgramRoom, GAUGE,
         "Programs of the 95th percentile's size that fit into free memory.",
         programs_that_fit(&view->stats));
}

void admission_fields_of_zone(const admission_view_t *view,
                              admission_facts_t *facts)
{
    int part;

    facts->count = 0;
    limit_of_zone(view, facts);
    requests_of_zone(view, facts);
    programs_of_zone(view, facts);
    for (part = 0; part < ADMISSION_PARTS_NUMBER; part++) {
        if (admission_parts[part]->facts_of_zone) {
            admission_parts[part]->facts_of_zone(view, facts);
        }
    }
}

/* ---- of the server ------------------------------------------------------- */

static apr_int64_t difference(uint32_t a, uint32_t b)
{
    return a > b ? (apr_int64_t)(a - b) : 0;
}

static void trunk_of_server(const adm_server_stats_t *server,
                            admission_facts_t *facts)
{
    FACT(Zones, GAUGE, "Zones of the configuration.", admission_zones_count());
    FACT(Workers, GAUGE, "Workers of the server.",
         admission_capacity_workers());
    FACT(Reserve, GAUGE, "Workers that zones may not occupy.",
         admission_capacity_workers() - (int)server->worker_cap);
    FACT(ReserveFree, GAUGE, "Workers that zones may still occupy.",
         difference(server->worker_cap, server->workers_held));
    FACT(Running, GAUGE, "Workers that run requests of zones.",
         difference(server->workers_held, server->workers_blocked));
    FACT(Blocked, GAUGE, "Waiting requests that occupy a thread.",
         server->blocked);
    FACT(Parked, GAUGE, "Requests that wait without a worker.", server->parked);
    FACT(Transfers, GAUGE,
         "Requests whose body or response is transferred without a worker.",
         server->transfers);
    FACT(Unlimited, COUNTER,
         "Requests let through without a limit because of a fault.",
         server->unlimited);
    FACT(TicketsIgnored, COUNTER,
         "Requests with an Admission-Ticket that was forged or has ended.",
         server->tickets_ignored);
    FACT(Agent, GAUGE,
         "1 if admission-agent reclaims permits of dead children.",
         server->has_agent);
    FACT(MemoryAvailableMB, GAUGE_MB,
         "Memory that programs can take without swapping; 0, not known.",
         server->available_kb / 1024);
}

void admission_fields_of_server(adm_server_stats_t *server,
                                admission_facts_t *facts)
{
    int part;

    /* Reclaim first, so that the permits of dead children are not shown. */
    adm_round_to_show(admission_process_child(), adm_now());
    adm_view_server(admission_process_segment(), server);
    *facts = (admission_facts_t){ .group = "Workers and children" };
    trunk_of_server(server, facts);
    for (part = 0; part < ADMISSION_PARTS_NUMBER; part++) {
        if (admission_parts[part]->facts_of_server) {
            admission_parts[part]->facts_of_server(facts);
        }
    }
}

/* ---- how they are shown -------------------------------------------------- */

const admission_unit_t *admission_fields_unit(admission_kind_t kind)
{
    static const admission_unit_t units[] = {
        [ADMISSION_GAUGE] = { "", "", 1, 1 },
        [ADMISSION_GAUGE_USEC] = { "Us", "_seconds", 1, 1000000 },
        [ADMISSION_GAUGE_MSEC] = { "Ms", "_seconds", 1, 1000 },
        [ADMISSION_GAUGE_SEC] = { "S", "_seconds", 1, 1 },
        [ADMISSION_GAUGE_BYTES] = { "", "_bytes", 1, 1 },
        [ADMISSION_GAUGE_KB] = { "KB", "_bytes", 1024, 1 },
        [ADMISSION_GAUGE_MB] = { "MB", "_bytes", 1024 * 1024, 1 },
        [ADMISSION_GAUGE_PERCENT] = { "", "_ratio", 1, 100 },
        [ADMISSION_COUNTER] = { "", "_total", 1, 1 }
    };

    return &units[kind];
}

void admission_fields_write(request_rec *r, const admission_fact_t *fact)
{
    if (fact->word) {
        ap_rputs(fact->word, r);
    }
    else {
        ap_rprintf(r, "%" APR_INT64_T_FMT, fact->value);
    }
}

/* ---- samples ------------------------------------------------------------- */

void admission_fields_sample_zone(const admission_zone_t *zone,
                                  admission_view_t *view,
                                  adm_history_t *history)
{
    *view = (admission_view_t){ .zone = zone };
    view->stats.limit = (uint32_t)zone->limit;
    view->is_busy = adm_view_zone(admission_process_child(), zone->handle,
                                  adm_now(), &view->stats, history)
                    == ADM_ZONE_BUSY;
}

const admission_zone_t *admission_fields_zones(apr_pool_t *p,
                                               const admission_zone_t *only)
{
    admission_zone_t *alone;

    if (!only) {
        return admission_zones();
    }
    alone = apr_pmemdup(p, only, sizeof(*only));
    alone->next = NULL;
    return alone;
}

const admission_zone_t *admission_fields_find_zone(apr_pool_t *p,
                                                   const char *name)
{
    const admission_zone_t *zone, *shown_so = NULL;

    for (zone = admission_zones(); zone; zone = zone->next) {
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
