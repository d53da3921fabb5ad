/* recycle.c - AdmissionRecycle: children end one after the other.
 *
 * Each child gets its own quota of connections instead of
 * MaxConnectionsPerChild. worker and event read that number once, when a child
 * starts, so only the spread of the quotas applies there. prefork reads it
 * after each connection: a child that has used up its quota requests a turn to
 * end, and serves connections until it gets one.
 */
#include <httpd.h>
#include <limits.h>

#include <ap_mpm.h>
#include <http_connection.h>
#include <http_log.h>
#include <mpm_common.h>

#include "module/part.h"
#include "module/conf.h"
#include "recycle_turns.h"
#include "module/capacity.h"
#include "module/process.h"
#include "module/since.h"
#include "view/view_fields.h"

APLOG_USE_MODULE(admission);

#define DEFAULT_TOGETHER 1

/* Maximum delay of a child's end while requests wait in the queue: the child
 * would be missing until it is replaced. */
#define POSTPONE_MAX_USEC (30 * ADM_USEC_PER_SEC)

static struct {
    uint32_t quota; /* 0: off */
    uint32_t together;
    bool takes_turns;
    atomic_uint served;      /* connections so far */
    adm_usec_t wanted_since; /* when the quota was used up; 0: not yet */
} recycling;

static const recycle_conf_t *conf_of(server_rec *s)
{
    const admission_server_conf_t *conf =
        ap_get_module_config(s->module_config, &admission_module);

    return &conf->recycle;
}

/* ---- start ----------------------------------------------------------------- */

static int post_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp,
                       server_rec *s)
{
    const recycle_conf_t *conf = conf_of(s);

    if (admission_process_segment() && conf->min && conf->together
        && admission_capacity_is_threaded()) {
        ap_log_error(
            APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0401)
            "AdmissionRecycle: together=%d has no effect: it needs the "
            "MPM prefork. Children still end after different numbers "
            "of connections, %d to %d; remove together=",
            conf->together, conf->min, conf->max);
    }
    return OK;
}

static void child_init(apr_pool_t *pchild, server_rec *s)
{
    const recycle_conf_t *conf = conf_of(s);
    adm_child_t *child = admission_process_child();

    if (!child || !conf->min) {
        return;
    }
    recycling.quota = recycle_quota(admission_process_segment(),
                                    (uint32_t)conf->min, (uint32_t)conf->max);
    recycling.together = conf->together ? (uint32_t)conf->together
                                        : DEFAULT_TOGETHER;
    recycling.takes_turns = !admission_capacity_is_threaded();
    /* prefork ignores the number unless it is positive, and checks it before
     * each connection. */
    ap_max_requests_per_child = recycling.takes_turns ? INT_MAX
                                                      : (int)recycling.quota;
    ap_log_error(APLOG_MARK, APLOG_DEBUG, 0, s, ADMLOGNO(0402)
                 "this child ends after %u connections", recycling.quota);
}

/* Free the turn of the replaced child: last, as other modules start slowly. */
static void child_ready(apr_pool_t *pchild, server_rec *s)
{
    /* Even if recycling was turned off since: the turn must be freed. */
    if (admission_process_child()) {
        recycle_return_turn(admission_process_child(), adm_now());
    }
}

/* ---- after each connection ----------------------------------------------- */

/* Postpone the end of the child while requests wait, which need its worker. */
static bool is_postponed(adm_usec_t now)
{
    if (recycling.wanted_since == 0) {
        recycling.wanted_since = now;
    }
    return now - recycling.wanted_since < POSTPONE_MAX_USEC
           && adm_view_has_waiters(admission_process_segment());
}

/* End the child if it gets a turn. A cleanup of the connection's pool, which
 * prefork clears right before it checks ap_max_requests_per_child. */
static apr_status_t end_if_due(void *data)
{
    adm_usec_t now = adm_now();

    if (adm_child_is_stopping(admission_process_child())) {
        return APR_SUCCESS; /* httpd ends all children */
    }
    if (!is_postponed(now)
        && recycle_take_turn(admission_process_child(), recycling.together,
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
    /* mod_proxy's connections have no scoreboard handle. */
    return !c->master && c->sbh;
#endif
}

static int pre_connection(conn_rec *c, void *socket)
{
    uint32_t served;

    /* Streams and connections to a backend do not count. */
    if (recycling.quota == 0 || !is_from_client(c)) {
        return DECLINED;
    }
    served = atomic_fetch_add(&recycling.served, 1) + 1;
    if (served < recycling.quota) {
        return DECLINED;
    }
    if (recycling.takes_turns) {
        apr_pool_cleanup_register(c->pool, NULL, end_if_due,
                                  apr_pool_cleanup_null);
    }
    else if (served == recycling.quota) {
        recycle_count(admission_process_segment()); /* the MPM ends this child
                                                     * now */
    }
    return DECLINED;
}

/* ---- outputs --------------------------------------------------------------- */

static void facts_of_server(admission_facts_t *facts)
{
    const recycle_view_t shown = recycle_view(admission_process_segment());

    FACT(ChildrenRecycled, COUNTER, "Children ended by AdmissionRecycle.",
         shown.ended);
    FACT(ChildrenAway, GAUGE, "Recycled children not replaced yet.",
         shown.away);
    FACT(ChildrenAwayMaxMs, GAUGE_MSEC,
         "Longest time from the end of a recycled child to its replacement.",
         shown.away_max_usec / ADM_USEC_PER_MSEC);
}

static void register_hooks(apr_pool_t *p)
{
    ap_hook_post_config(post_config, NULL, NULL, APR_HOOK_REALLY_FIRST + 2);
    ap_hook_child_init(child_init, NULL, NULL, APR_HOOK_MIDDLE + 2);
    ap_hook_child_init(child_ready, NULL, NULL, APR_HOOK_REALLY_LAST);
    /* First, to count each connection once, even if another hook takes it
     * over. */
    ap_hook_pre_connection(pre_connection, NULL, NULL, APR_HOOK_FIRST);
}

const admission_part_t admission_part_recycle = {
    .register_hooks = register_hooks, .facts_of_server = facts_of_server
};
