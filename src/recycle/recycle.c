/* mod_admission_recycle.c - children end one after the other.
 *
 * Each child gets a quota of connections of its own in place of
 * MaxConnectionsPerChild. worker and event read that number once, at the start
 * of a child, so there the even spread of the quotas is all that applies. prefork
 * reads it after each connection: there a child whose quota is used up asks for
 * the turn to end, and serves on until it gets it.
 */
#include <httpd.h>
#include <limits.h>

#include <ap_mpm.h>
#include <http_log.h>
#include <mpm_common.h>

#include "config/mod_admission_conf.h"
#include "server/mod_admission_capacity.h"
#include "server/mod_admission_process.h"
#include "recycle/recycle.h"
#include "server/mod_admission_since.h"

APLOG_USE_MODULE(admission);

#define DEFAULT_TOGETHER 1

/* A child whose quota is used up stays this long for the sake of those who
 * wait in the queue. */
#define POSTPONE_MAX_USEC (30 * ADM_USEC_PER_SEC)

static struct {
    uint32_t quota; /* 0: off */
    uint32_t together;
    bool takes_turns;
    atomic_uint served;      /* connections */
    adm_usec_t wanted_since; /* the end; 0: not yet */
} recycling;

static const admission_server_conf_t *conf_of(server_rec *s)
{
    return ap_get_module_config(s->module_config, &admission_module);
}

int admission_recycle_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                  apr_pool_t *ptemp, server_rec *s)
{
    const admission_server_conf_t *conf = conf_of(s);

    if (admission_process_segment() && conf->recycle_min
        && conf->recycle_together != -1 && admission_capacity_is_threaded()) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0401)
                     "AdmissionRecycle: together=%d has no effect with this "
                     "MPM, which reads the number of connections only when a "
                     "child starts; the quotas are spread from %d to %d",
                     conf->recycle_together, conf->recycle_min,
                     conf->recycle_max);
    }
    return OK;
}

void admission_recycle_child_init(apr_pool_t *pchild, server_rec *s)
{
    const admission_server_conf_t *conf = conf_of(s);
    adm_child_t *child = admission_process_child();

    if (!child || !conf->recycle_min) {
        return;
    }
    recycling.quota = adm_recycle_quota(admission_process_segment(),
                                        (uint32_t)conf->recycle_min,
                                        (uint32_t)conf->recycle_max);
    recycling.together = conf->recycle_together > 0
                             ? (uint32_t)conf->recycle_together
                             : DEFAULT_TOGETHER;
    recycling.takes_turns = !admission_capacity_is_threaded();
    /* prefork counts against this number only while it is positive, and looks
     * at it before each connection. */
    ap_max_requests_per_child = recycling.takes_turns ? INT_MAX
                                                      : (int)recycling.quota;
    ap_log_error(APLOG_MARK, APLOG_DEBUG, 0, s, ADMLOGNO(0402)
                 "this child ends after %u connections", recycling.quota);
}

/* The turn passes on only now: what other modules do when a child starts can
 * take its time. */
void admission_recycle_child_ready(apr_pool_t *pchild, server_rec *s)
{
    /* Also where recycling has been turned off since. */
    if (admission_process_child()) {
        adm_recycle_take_place(admission_process_child(), adm_now());
    }
}

/* ---- after each connection ----------------------------------------------- */

static bool is_postponed(adm_usec_t now)
{
    if (recycling.wanted_since == 0) {
        recycling.wanted_since = now;
    }
    return now - recycling.wanted_since < POSTPONE_MAX_USEC
           && adm_view_has_waiters(admission_process_segment());
}

/* prefork clears the connection's pool right before it looks at the number. */
static apr_status_t end_if_it_is_time(void *data)
{
    adm_usec_t now = adm_now();

    if (adm_child_is_stopping(admission_process_child())) {
        return APR_SUCCESS; /* httpd ends it, and all the others */
    }
    if (!is_postponed(now)
        && adm_recycle_take_turn(admission_process_child(), recycling.together,
                                 now)) {
        ap_max_requests_per_child = 1;
    }
    return APR_SUCCESS;
}

static bool is_from_client(const conn_rec *c)
{
#if ADMISSION_HAS_OUTGOING
    return !c->master && !c->outgoing;
#else
    /* mod_proxy's own has no place in the scoreboard. */
    return !c->master && c->sbh;
#endif
}

int admission_recycle_pre_connection(conn_rec *c, void *socket)
{
    uint32_t served;

    /* Neither streams of a connection nor connections to a backend. */
    if (recycling.quota == 0 || !is_from_client(c)) {
        return DECLINED;
    }
    served = atomic_fetch_add(&recycling.served, 1) + 1;
    if (served < recycling.quota) {
        return DECLINED;
    }
    if (recycling.takes_turns) {
        apr_pool_cleanup_register(c->pool, NULL, end_if_it_is_time,
                                  apr_pool_cleanup_null);
    }
    else if (served == recycling.quota) {
        adm_recycle_count(
            admission_process_segment()); /* the MPM ends it now */
    }
    return DECLINED;
}
