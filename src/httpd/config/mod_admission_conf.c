/* mod_admission_conf.c - create, merge, and what applies by default. */
#include "config/mod_admission_actions.h"
#include "config/mod_admission_conf.h"

#define DEFAULT_QUEUE_LENGTH 100
#define DEFAULT_REJECT_STATUS HTTP_SERVICE_UNAVAILABLE
#define DEFAULT_SPOOL_REQUEST ((apr_off_t)1024 * 1024)
#define DEFAULT_SPOOL_RESPONSE ((apr_off_t)16 * 1024 * 1024)

/* ---- create and merge ---------------------------------------------------- */

void *admission_conf_create_dir(apr_pool_t *p, char *path)
{
    admission_dir_conf_t *conf = apr_palloc(p, sizeof(*conf));

    (void)path;
    *conf = (admission_dir_conf_t){ .queue_length = ADMISSION_UNSET,
                                    .queue_timeout = ADMISSION_UNSET,
                                    .queue_target = ADMISSION_UNSET,
                                    .reject_status = ADMISSION_UNSET,
                                    .retry = ADMISSION_RETRY_UNSET,
                                    .dry_run = ADMISSION_UNSET,
                                    .spool_request = ADMISSION_UNSET,
                                    .spool_response = ADMISSION_UNSET };
    return conf;
}

#define PICK(field, unset) \
    conf->field = add->field != (unset) ? add->field : base->field

void *admission_conf_merge_dir(apr_pool_t *p, void *base_conf, void *add_conf)
{
    const admission_dir_conf_t *base = base_conf, *add = add_conf;
    admission_dir_conf_t *conf = apr_palloc(p, sizeof(*conf));

    PICK(section, NULL);
    PICK(queue_length, ADMISSION_UNSET);
    PICK(queue_timeout, ADMISSION_UNSET);
    PICK(queue_target, ADMISSION_UNSET);
    PICK(handlers, NULL);
    PICK(exempt, NULL);
    PICK(reject_status, ADMISSION_UNSET);
    conf->retry_seconds = add->retry != ADMISSION_RETRY_UNSET
                              ? add->retry_seconds
                              : base->retry_seconds;
    PICK(retry, ADMISSION_RETRY_UNSET);
    PICK(dry_run, ADMISSION_UNSET);
    PICK(fair, NULL);
    PICK(priorities, NULL);
    PICK(costs, NULL);
    PICK(spool_request, ADMISSION_UNSET);
    PICK(spool_response, ADMISSION_UNSET);
    conf->actions = admission_actions_merge(p, base->actions, add->actions);
    return conf;
}

void *admission_conf_create_server(apr_pool_t *p, server_rec *s)
{
    admission_server_conf_t *conf = apr_pcalloc(p, sizeof(*conf));

    (void)s;
    conf->reserve = ADMISSION_UNSET;
    conf->parking = ADMISSION_UNSET;
    conf->recycle_together = ADMISSION_UNSET;
    conf->spool_limit = ADMISSION_UNSET;
    return conf;
}

/* ---- what applies -------------------------------------------------------- */

/* Where the request's sections say nothing, what others of its zone say. */
int admission_conf_queue_length(const admission_dir_conf_t *conf)
{
    const admission_zone_t *zone = admission_conf_zone(conf);

    return conf->queue_length != ADMISSION_UNSET ? conf->queue_length
           : zone                                ? zone->queue_length
                                                 : DEFAULT_QUEUE_LENGTH;
}

adm_usec_t admission_conf_queue_timeout(const admission_dir_conf_t *conf)
{
    const admission_zone_t *zone = admission_conf_zone(conf);

    return conf->queue_timeout != ADMISSION_UNSET ? conf->queue_timeout
           : zone                                 ? zone->queue_timeout
                  : ADMISSION_DEFAULT_QUEUE_TIMEOUT;
}

adm_usec_t admission_conf_queue_target(const admission_dir_conf_t *conf)
{
    const admission_zone_t *zone = admission_conf_zone(conf);

    return conf->queue_target != ADMISSION_UNSET ? conf->queue_target
           : zone                                ? zone->queue_target
                                                 : 0;
}

int admission_conf_reject_status(const admission_dir_conf_t *conf)
{
    return conf->reject_status != ADMISSION_UNSET ? conf->reject_status
                                                  : DEFAULT_REJECT_STATUS;
}

bool admission_conf_is_dry_run(const admission_dir_conf_t *conf)
{
    return conf->dry_run == 1;
}

apr_off_t admission_conf_spool_request(const admission_dir_conf_t *conf)
{
    return conf->spool_request != ADMISSION_UNSET ? conf->spool_request
                                                  : DEFAULT_SPOOL_REQUEST;
}

apr_off_t admission_conf_spool_response(const admission_dir_conf_t *conf)
{
    return conf->spool_response != ADMISSION_UNSET ? conf->spool_response
                                                   : DEFAULT_SPOOL_RESPONSE;
}

bool admission_conf_parks(server_rec *s)
{
    const admission_server_conf_t *conf =
        ap_get_module_config(s->module_config, &admission_module);

    return conf->parking != 0;
}
