/* fair.c - the fair queue, as a capability: warnings about its numbers, and its part of
 * -D DUMP_ADMISSION.
 */
#include <httpd.h>
#include <http_config.h>
#include <http_core.h>
#include <http_log.h>

#include "module/conf.h"
#include "module/part.h"
#include "module/zones.h"

APLOG_USE_MODULE(admission);

static int highest_cost(const fair_conf_t *conf)
{
    int i, most = 0;

    for (i = 0; conf->costs && i < conf->costs->nelts; i++) {
        int cost = APR_ARRAY_IDX(conf->costs, i, admission_rule_t).value;

        most = cost > most ? cost : most;
    }
    return most;
}

static void warn(server_rec *s, const admission_section_t *section)
{
    const fair_conf_t *conf = &section->own->fair;
    int cost = highest_cost(conf), limit = section->zone->limit;

    if (cost > limit) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0118)
                     "zone %s (%s): AdmissionCost %d exceeds MaxConcurrent %d: "
                     "a request with this cost waits until no other request "
                     "runs, and then runs alone; lower the cost or raise "
                     "MaxConcurrent",
                     section->zone->name, section->place, cost, limit);
    }
    if (conf->key && conf->key->max > limit) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0122)
                     "zone %s (%s): AdmissionFair max=%d exceeds MaxConcurrent "
                     "%d: one key can hold all permits; set a lower max=",
                     section->zone->name, section->place, conf->key->max,
                     limit);
    }
}

/* Warnings only, because an override can raise the limit. Directives outside of
 * sections are not checked: they apply to all zones, whatever their limits. */
static int check_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp,
                        server_rec *s)
{
    const admission_section_t *section;

    if (admission_zones_is_rehearsal()) {
        return OK;
    }
    for (section = admission_zones_sections(); section;
         section = section->next) {
        if (section->zone && !section->zone->max_concurrent.is_auto) {
            warn(s, section);
        }
    }
    return OK;
}

static void register_hooks(apr_pool_t *p)
{
    /* After the module's own hook, which settles the zones. */
    ap_hook_check_config(check_config, NULL, NULL, APR_HOOK_MIDDLE + 1);
}

static void describe(apr_file_t *out, const admission_dir_conf_t *conf)
{
    const fair_t *key = conf->fair.key;

    if (key && key->kind != ADMISSION_KEY_OFF) {
        apr_file_printf(out, " fair %s", key->text);
        if (key->max) {
            apr_file_printf(out, " max %d", key->max);
        }
    }
    if (conf->fair.priorities) {
        apr_file_printf(out, " priorities %d", conf->fair.priorities->nelts);
    }
    if (conf->fair.costs) {
        apr_file_printf(out, " costs %d", conf->fair.costs->nelts);
    }
}

const admission_part_t admission_part_fair = { .register_hooks = register_hooks,
                                               .describe = describe };
