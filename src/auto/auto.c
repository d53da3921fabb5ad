/* auto.c - automatic limits, as a capability: its duty, messages and outputs. */
#include <errno.h>

#include <httpd.h>
#include <apr_strings.h>
#include <http_config.h>
#include <http_log.h>

#include "module/part.h"
#include "module/process.h"
#include "module/zones.h"
#include "auto_duty.h"
#include "view/view_fields.h"
#include "view/view_page.h"
#include "module/private_file.h"

APLOG_USE_MODULE(admission);

/* ---- log -------------------------------------------------------------------- */

static void log_event(void *data, const auto_news_t *news)
{
    server_rec *s = data;

    if (news->has_braked) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0134)
                     "zone %s: memory ran out, limit %u -> %u: %s; to prevent "
                     "this, set a lower maximum or add memory",
                     news->zone->name, news->before, news->now, news->sentence);
        return;
    }
    ap_log_error(APLOG_MARK, APLOG_INFO, 0, s, ADMLOGNO(0135)
                 "zone %s: limit %u -> %u (%s): %s", news->zone->name,
                 news->before, news->now, news->reason, news->sentence);
}

static void log_missing(void *data, const char *words)
{
    ap_log_error(
        APLOG_MARK, APLOG_INFO, 0, (server_rec *)data, ADMLOGNO(0136)
        "MaxConcurrent auto: cannot read %s; limits are computed without these "
        "values",
        words);
}

static void *setup(apr_pool_t *p, server_rec *s)
{
    const admission_zone_t *zone;
    apr_array_header_t *found = apr_array_make(p, 4, sizeof(auto_zone_t));
    auto_setup_t *tuned = apr_pcalloc(p, sizeof(*tuned));

    for (zone = admission_zones(); zone; zone = zone->next) {
        if (zone->max_concurrent.is_auto && zone->handle.idx != 0) {
            APR_ARRAY_PUSH(found, auto_zone_t) = (auto_zone_t){
                .name = zone->name,
                .handle = zone->handle,
                .min = (uint32_t)zone->max_concurrent.min,
                .max = (uint32_t)zone->limit,
                .is_dry = zone->dry_run
            };
        }
    }
    tuned->zones = (auto_zone_t *)found->elts;
    tuned->count = (uint32_t)found->nelts;
    tuned->root = "";
    tuned->state_fd = -1;
    tuned->log_event = log_event;
    tuned->log_missing = log_missing;
    tuned->data = s;
    return tuned;
}

/* ---- the state file ---------------------------------------------------------- */

static const char *state_file(apr_pool_t *p, server_rec *s)
{
    const admission_server_conf_t *conf =
        ap_get_module_config(s->module_config, &admission_module);

    return conf->tune.state_file
               ? conf->tune.state_file
               : ap_runtime_dir_relative(p, "admission.state");
}

static void open_state(apr_pool_t *p, server_rec *s, void *data)
{
    auto_setup_t *setup = data;
    const char *path = setup->count > 0 ? state_file(p, s) : "";

    if (*path) {
        setup->state_fd = admission_private_file_open(path);
    }
    if (*path && setup->state_fd < 0) {
        ap_log_error(
            APLOG_MARK, APLOG_WARNING, errno, s, ADMLOGNO(0138)
            "AdmissionStateFile %s cannot be used; automatic limits are lost "
            "when httpd stops; name a file in a directory that only root can "
            "write to",
            path);
    }
}

/* ---- outputs ---------------------------------------------------------------------- */

/* @return what the outputs show; zeros for a zone without an automatic limit. */
static law_tune_shown_t found(const admission_view_t *view)
{
    law_tune_shown_t shown = { .reason = LAW_TUNE_NONE };

    if (view->zone->max_concurrent.is_auto) {
        auto_view(admission_process_segment(), view->zone->handle, adm_now(),
                  &shown);
    }
    return shown;
}

static void facts_of_zone(const admission_view_t *view,
                          admission_facts_t *facts)
{
    const admission_zone_t *zone = view->zone;
    law_tune_shown_t shown = found(view);

    facts->group = zone->max_concurrent.is_auto ? "Automatic limit" : NULL;
    FACT(LimitMin, GAUGE, "Minimum of the limit.",
         zone->max_concurrent.is_auto ? zone->max_concurrent.min : zone->limit);
    FACT(LimitMax, GAUGE, "Maximum of the limit.", zone->limit);
    FACT_WORD(LimitReason, "Why auto has set this limit.", shown.reason,
              law_tune_field_reason(shown.reason));
    FACT(LimitSinceS, GAUGE_SEC, "Seconds since auto last changed the limit.",
         shown.since_sec);
    FACT(LimitMemory, GAUGE, "Programs that fit into memory.",
         shown.memory_cap);
    FACT(LimitTrial, GAUGE, "Limit that is being tried; 0: none.", shown.trial);
    FACT(LimitBrakes, COUNTER,
         "Times that the limit was lowered because memory ran out.",
         shown.brakes);
    FACT(ProgramMB, GAUGE_MB,
         "Memory that the next program is expected to need; 0: unknown.",
         shown.program_mb);
    FACT(ProgramLargestMB, GAUGE_MB, "Memory of the largest recent program.",
         shown.largest_mb);
    FACT(MemoryBudgetMB, GAUGE_MB,
         "Memory that all programs of the zone may need together.",
         shown.budget_mb);
    FACT(ProcessorsBusy, GAUGE_PERCENT,
         "Percentage of CPU time in use, of all processes.",
         shown.busy_permille / 10);
}

static void write_sentences(request_rec *r, apr_pool_t *p,
                            const admission_view_t *view)
{
    char sentence[AUTO_SENTENCE];
    law_tune_shown_t shown;

    if (view && view->zone->max_concurrent.is_auto) {
        shown = found(view);
        auto_sentence(&shown, view->stats.limit, sentence);
        admission_page_words_write(r, "", "Automatic limit %u (%s): %s.",
                                   view->stats.limit,
                                   law_tune_field_reason(shown.reason),
                                   sentence);
    }
}

const admission_part_t admission_part_auto = {
    .agent = { .duty = &auto_agent_duty, .setup = setup, .open = open_state },
    .facts_of_zone = facts_of_zone,
    .write_sentences = write_sentences
};
