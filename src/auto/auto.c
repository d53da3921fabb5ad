/* auto.c - limits that find themselves: what the agent is told of
 * them, and what it says.
 */
#include <errno.h>
#include <unistd.h>

#include <httpd.h>
#include <http_config.h>
#include <http_log.h>

#include "agent/agent.h"

#include "module/zones.h"
#include "auto.h"
#include "module/private_file.h"

APLOG_USE_MODULE(admission);

/* ---- what it is told -------------------------------------------------------- */

static bool counts(const admission_zone_t *zone)
{
    return zone->said.is_auto && zone->handle.idx != 0;
}

static agent_zone_t describe(const admission_zone_t *zone)
{
    return (agent_zone_t){ .name = zone->name,
                           .handle = zone->handle,
                           .min = (uint32_t)zone->said.min,
                           .max = (uint32_t)zone->limit,
                           .is_dry = zone->dry_run };
}

/* ---- what it says ----------------------------------------------------------- */

static void tell(void *data, const agent_news_t *news)
{
    server_rec *s = data;

    if (news->has_braked) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0134)
                     "zone %s: memory ran out, limit %u -> %u: %s; a lower "
                     "maximum, or more memory, prevents that",
                     news->zone->name, news->before, news->now, news->sentence);
        return;
    }
    ap_log_error(APLOG_MARK, APLOG_INFO, 0, s, ADMLOGNO(0135)
                 "zone %s: limit %u -> %u (%s): %s", news->zone->name,
                 news->before, news->now, news->reason, news->sentence);
}

static void tell_missing(void *data, const char *words)
{
    ap_log_error(APLOG_MARK, APLOG_INFO, 0, (server_rec *)data, ADMLOGNO(0136)
                 "MaxConcurrent auto cannot see here: %s; it works with what "
                 "there is",
                 words);
}

agent_tune_setup_t *admission_auto_setup(apr_pool_t *p, server_rec *s)
{
    const apr_array_header_t *zones = admission_zones();
    apr_array_header_t *found = apr_array_make(p, 4, sizeof(agent_zone_t));
    agent_tune_setup_t *setup = apr_pcalloc(p, sizeof(*setup));
    int i;

    for (i = 0; i < zones->nelts; i++) {
        const admission_zone_t *zone = APR_ARRAY_IDX(zones, i,
                                                     admission_zone_t *);

        if (counts(zone)) {
            APR_ARRAY_PUSH(found, agent_zone_t) = describe(zone);
        }
    }
    setup->zones = (agent_zone_t *)found->elts;
    setup->count = (uint32_t)found->nelts;
    setup->state_fd = -1;
    setup->tell = tell;
    setup->tell_missing = tell_missing;
    setup->data = s;
    return setup;
}

/* ---- what is kept over stop and start ---------------------------------------- */

static const char *state_file(apr_pool_t *p, server_rec *s)
{
    const admission_server_conf_t *conf =
        ap_get_module_config(s->module_config, &admission_module);

    return conf->state_file ? conf->state_file
                            : ap_runtime_dir_relative(p, "admission.state");
}

void admission_auto_open(apr_pool_t *p, server_rec *s,
                         agent_tune_setup_t *setup)
{
    const char *path = setup->count > 0 ? state_file(p, s) : "";

    if (*path) {
        setup->state_fd = admission_private_file_open(path);
    }
    if (*path && setup->state_fd < 0) {
        ap_log_error(
            APLOG_MARK, APLOG_WARNING, errno, s, ADMLOGNO(0138)
            "AdmissionStateFile %s cannot be used: what limits find is "
            "lost when httpd stops",
            path);
    }
}

void admission_auto_close(agent_tune_setup_t *setup)
{
    if (setup->state_fd >= 0) {
        close(setup->state_fd);
    }
    setup->state_fd = -1;
}

void admission_auto_begin(server_rec *s, const agent_tune_setup_t *setup)
{
    apr_status_t rv;

    if (setup->count == 0) {
        return;
    }
    rv = agent_lock_memory();
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_DEBUG, rv, s, ADMLOGNO(0137)
                     "the agent's memory cannot be locked: it may be late when "
                     "the system swaps");
    }
}
