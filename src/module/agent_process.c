/* agent_process.c - the process that makes the rounds of the server.
 *
 * The parent forks it, as mod_cgid its daemon, and starts it again when it ends;
 * it ends with the configuration. Without it children make the rounds, so nothing
 * here keeps httpd from starting.
 */
#include <httpd.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <apr_thread_proc.h>
#include <ap_listen.h>
#include <ap_mpm.h>
#include <http_config.h>
#include <http_core.h>
#include <http_log.h>
#include <mpm_common.h>

#include "agent/agent.h"
#include "agent/agent_account.h"

#include "conf.h"
#include "zones.h"
#include "agent_process.h"
#include "auto/auto.h"
#include "capacity.h"
#include "fleet/fleet_predecessor.h"
#include "process.h"
#include "fleet/fleet_shares.h"

APLOG_USE_MODULE(admission);

/* Exit code of an agent that will not be able to work the next time either. */
#define CANNOT_WORK 254

/* One that ends over and over is not started more often than this. */
#define PAUSE_USEC APR_USEC_PER_SEC

/* It ends within a millisecond, unless the machine has no time for it, or it is
 * frozen. */
#define PATIENCE_USEC APR_USEC_PER_SEC
#define NAP_USEC 1000

/* In the parent, of this configuration. */
static apr_pool_t *pool;
static server_rec *server;
static apr_proc_t *process; /* NULL: no agent is wanted */
static agent_tune_setup_t *tuned;
static agent_fleet_t *fleet; /* NULL: no zone is shared */
static adm_usec_t started_at;
static bool is_running;
static bool has_warned;

/* ---- the agent ------------------------------------------------------------ */

static void work(pid_t parent)
{
    const agent_task_t tasks[] = { { &agent_tune_duty, tuned },
                                   { &agent_account_duty, NULL },
                                   { &agent_fleet_duty, fleet },
                                   { NULL, NULL } };
    adm_segment_t *segment = admission_process_segment();
    apr_status_t rv;

    agent_begin(segment);
    ap_close_listeners();
    admission_auto_begin(server, tuned);
    /* No exit handlers: they are the parent's. */
    if (ap_run_drop_privileges(pool, server) != OK) {
        _exit(CANNOT_WORK); /* the log has the reason */
    }
    rv = agent_run(segment, parent, tasks, pool);
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, server, ADMLOGNO(0130)
                     "%s, there is no agent",
                     rv == ADM_NO_CHILD
                         ? "the table of children is full"
                         : "the shared memory is not what this module wrote");
        _exit(CANNOT_WORK);
    }
    _exit(0);
}

/* ---- the parent ----------------------------------------------------------- */

/* Once for a configuration: nothing is lost but time. */
static void warn_of_none(apr_status_t rv)
{
    if (!has_warned) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, rv, server, ADMLOGNO(0131)
                     "the agent cannot be started: children look after what "
                     "dead ones held themselves");
    }
    has_warned = true;
}

static void ended(int reason, void *data, apr_wait_t status);

/* Files that only the agent writes: no other process has them. */
static void open_files(void)
{
    admission_auto_open(pool, server, tuned);
    if (fleet) {
        fleet->id_fd = admission_predecessor_open(pool);
    }
}

static void close_files(void)
{
    admission_auto_close(tuned);
    if (fleet && fleet->id_fd >= 0) {
        close(fleet->id_fd);
        fleet->id_fd = -1;
    }
}

static void start(void)
{
    pid_t parent = getpid();
    apr_status_t rv;

    started_at = adm_now();
    open_files();
    rv = apr_proc_fork(process, pool);
    if (rv == APR_INCHILD) {
        work(parent);
    }
    close_files();
    if (rv != APR_INPARENT) {
        warn_of_none(rv);
        return;
    }
    is_running = true;
    apr_proc_other_child_register(process, ended, process, NULL, pool);
    ap_log_error(APLOG_MARK, APLOG_DEBUG, 0, server, ADMLOGNO(0132)
                 "the agent is process %" APR_PID_T_FMT, process->pid);
}

static bool is_httpd_ending(void)
{
    return admission_capacity_query(AP_MPMQ_MPM_STATE, AP_MPMQ_STOPPING)
           == AP_MPMQ_STOPPING;
}

int admission_agent_monitor(apr_pool_t *p, server_rec *s)
{
    if (process && !is_running && !is_httpd_ending()
        && adm_now() - started_at >= PAUSE_USEC) {
        start();
    }
    return OK;
}

/* Its end was noticed. httpd gives its exit code, or the signal that ended it. */
static void note_end(apr_wait_t status)
{
    adm_segment_t *segment = admission_process_segment();

    is_running = false;
    adm_agent_gone(segment);
    adm_child_ended(segment, process->pid);
    if (is_httpd_ending()) {
        return;
    }
    if (status == CANNOT_WORK) {
        process = NULL;
        warn_of_none(APR_SUCCESS);
        return;
    }
    /* Somebody told it to end, perhaps all of httpd. */
    ap_log_error(APLOG_MARK, status == 0 ? APLOG_INFO : APLOG_WARNING, 0,
                 server, ADMLOGNO(0133)
                 "the agent has ended (%d), it is started again", (int)status);
    admission_agent_monitor(pool, server);
}

/* @return whether the agent is still there: a child of this process, which a fork
 * that runs the same cleanups is not the parent of. */
static bool is_there(void)
{
    return waitpid(process->pid, NULL, WNOHANG) == 0;
}

static void ended(int reason, void *data, apr_wait_t status)
{
    switch (reason) {
    case APR_OC_REASON_DEATH:
    case APR_OC_REASON_LOST:
        apr_proc_other_child_unregister(data);
        if (is_there()) { /* it was stopped */
            apr_proc_other_child_register(process, ended, process, NULL, pool);
            break;
        }
        note_end(status);
        break;
    default:
        break; /* still there, and ends with the pool */
    }
}

static bool is_gone_in(adm_usec_t patience)
{
    adm_usec_t until = adm_now() + patience;

    while (is_there() && adm_now() < until) {
        apr_sleep(NAP_USEC);
    }
    return !is_there();
}

/* With its configuration. APR's way to end a child takes one that somebody has
 * stopped for one that has ended. */
static apr_status_t end(void *unused)
{
    if (is_running && is_there()) {
        kill(process->pid, SIGTERM);
        kill(process->pid, SIGCONT);
        if (!is_gone_in(PATIENCE_USEC)) {
            kill(process->pid, SIGKILL);
            is_gone_in(PATIENCE_USEC);
        }
    }
    return APR_SUCCESS;
}

static bool is_wanted(void)
{
    return admission_process_segment()
           && admission_zones()->nelts > 0
           /* httpd -X is one process. */
           && !ap_exists_config_define("DEBUG")
           && !ap_exists_config_define("ONE_PROCESS");
}

int admission_agent_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                apr_pool_t *ptemp, server_rec *s)
{
    pool = pconf;
    server = s;
    process = NULL;
    is_running = false;
    has_warned = false;
    if (is_wanted()) {
        process = apr_pcalloc(pconf, sizeof(*process));
        tuned = admission_auto_setup(pconf, s);
        fleet = admission_shares_setup(pconf, s);
        apr_pool_cleanup_register(pconf, NULL, end, apr_pool_cleanup_null);
        start();
    }
    return OK;
}
