/* conf.c - create and merge configurations. */
#include "nested/nested_actions.h"
#include "conf.h"

void *admission_conf_create_dir(apr_pool_t *p, char *path)
{
    admission_dir_conf_t *conf = apr_palloc(p, sizeof(*conf));

    *conf = (admission_dir_conf_t){ .reject_status = ADMISSION_UNSET,
                                    .retry = ADMISSION_UNSET,
                                    .dry_run = ADMISSION_UNSET,
                                    .spool = SPOOL_CONF_UNSET };
    return conf;
}

#define PICK(field, unset) \
    conf->field = add->field != (unset) ? add->field : base->field

admission_dir_conf_t *admission_conf_merge(apr_pool_t *p,
                                           const admission_dir_conf_t *base,
                                           const admission_dir_conf_t *add)
{
    admission_dir_conf_t *conf = apr_pcalloc(p, sizeof(*conf));

    PICK(section, NULL);
    PICK(queue, NULL);
    PICK(handlers, NULL);
    PICK(exempt, NULL);
    PICK(exempt_place, NULL);
    PICK(reject_status, ADMISSION_UNSET);
    PICK(retry, ADMISSION_UNSET);
    PICK(dry_run, ADMISSION_UNSET);
    conf->fair = fair_conf_merge(base->fair, add->fair);
    conf->spool = spool_conf_merge(base->spool, add->spool);
    return conf;
}

void *admission_conf_merge_dir(apr_pool_t *p, void *base_conf, void *add_conf)
{
    const admission_dir_conf_t *base = base_conf, *add = add_conf;
    admission_dir_conf_t *conf = admission_conf_merge(p, base, add);

    conf->actions = admission_actions_merge(p, base->actions, add->actions);
    conf->location = !base->location  ? add->location
                     : !add->location ? base->location
                                      : admission_conf_merge(p, base->location,
                                                             add->location);
    return conf;
}

void *admission_conf_create_server(apr_pool_t *p, server_rec *s)
{
    admission_server_conf_t *conf = apr_pcalloc(p, sizeof(*conf));

    conf->reserve = ADMISSION_UNSET;
    conf->parking = ADMISSION_UNSET;
    return conf;
}

bool admission_conf_parks(server_rec *s)
{
    const admission_server_conf_t *conf =
        ap_get_module_config(s->module_config, &admission_module);

    return conf->parking != 0;
}
