/* capacity.c - how many workers and threads httpd has, and how many of them
 * zones may use.
 */
#include <httpd.h>
#include <ap_mpm.h>
#include <http_config.h>

#include "conf.h"
#include "capacity.h"

#define DEFAULT_RESERVE_PERCENT 25

/* ---- the MPM ------------------------------------------------------------- */

int admission_capacity_query(int what, int otherwise)
{
    int value;

    return ap_mpm_query(what, &value) == APR_SUCCESS ? value : otherwise;
}

int admission_capacity_threads(void)
{
    int threads = admission_capacity_query(AP_MPMQ_MAX_THREADS, 1);

    return threads > 0 ? threads : 1;
}

int admission_capacity_children(void)
{
    int children = admission_capacity_query(AP_MPMQ_MAX_DAEMONS, 1);

    return children > 0 ? children : 1;
}

int admission_capacity_workers(void)
{
    return admission_capacity_children() * admission_capacity_threads();
}

bool admission_capacity_is_threaded(void)
{
    return admission_capacity_query(AP_MPMQ_IS_THREADED, AP_MPMQ_NOT_SUPPORTED)
           != AP_MPMQ_NOT_SUPPORTED;
}

/* ---- the reserve --------------------------------------------------------- */

int admission_capacity_reserved(server_rec *s, int workers)
{
    const admission_server_conf_t *conf =
        ap_get_module_config(s->module_config, &admission_module);

    if (conf->reserve == ADMISSION_UNSET) {
        return workers * DEFAULT_RESERVE_PERCENT / 100;
    }
    if (conf->reserve_is_percent) {
        return workers * conf->reserve / 100;
    }
    return conf->reserve < workers ? conf->reserve : workers;
}

int admission_capacity_for_zones(server_rec *s)
{
    int workers = admission_capacity_workers();

    return workers - admission_capacity_reserved(s, workers);
}

int admission_capacity_reserved_share(server_rec *s, int threads)
{
    int workers = admission_capacity_workers();
    int reserved = admission_capacity_reserved(s, workers);
    apr_int64_t share = ((apr_int64_t)threads * reserved + workers - 1)
                        / workers;

    return share > 0 ? (int)share : 1;
}
