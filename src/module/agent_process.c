/* agent_process.c - start admission-agent, the background process that reclaims
 * permits.
 *
 * The parent forks the agent, as mod_cgid forks its daemon, and restarts it
 * when it exits. The agent stops when the configuration is unloaded. Without an
 * agent the children make the rounds, so a failure here does not keep httpd
 * from starting.
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

#include "conf.h"
#include "zones.h"
#include "agent_process.h"
#include "capacity.h"
#include "part.h"
#include "process.h"

APLOG_USE_MODULE(admission);

/* Exit code of an agent that would fail again if it were restarted. */
#define CANNOT_WORK 254

/* Minimum time between two starts. */
#define PAUSE_USEC APR_USEC_PER_SEC

/* How long to wait for the agent to exit after a signal. Usually a millisecond,
 * unless the machine is overloaded or the agent is frozen. */
#define PATIENCE_USEC APR_USEC_PER_SEC
#define NAP_USEC 1000

/* State of the parent, for this configuration. */
static apr_pool_t *pool;
static server_rec *server;
static apr_proc_t *process;                      /* NULL: no agent needed */
static void *setups[ADMISSION_PARTS_NUMBER + 1]; /* arguments of the duties */
static adm_usec_t started_at;
static bool is_running;
static bool has_warned;

/* ---- the agent ------------------------------------------------------------ */

/* List the duties, and open their files. */
static void list_tasks(agent_task_t tasks[ADMISSION_PARTS_NUMBER + 1])
{
    int part;

    for (part = 0; part < ADMISSION_PARTS_NUMBER; part++) {
        const admission_part_agent_t *agent = &admission_parts[part]->agent;

        if (agent->open && setups[part]) {
            agent->open(pool, server, setups[part]);
        }
        if (agent->duty) {
            *tasks++ = (agent_task_t){ agent->duty, setups[part] };
        }
    }
    *tasks = (agent_task_t){ NULL, NULL };
}

static bool has_measured_limit(void)
{
    const admission_zone_t *zone;

    for (zone = admission_zones(); zone; zone = zone->next) {
        if (zone->max_concurrent.is_auto && zone->handle.idx != 0) {
            return true;
        }
    }
    return false;
}

/* Lock the agent's memory if a limit is automatic: the agent lowers it when
 * memory is short, and must not wait for memory itself. */
static void lock_memory(void)
{
    apr_status_t rv = has_measured_limit() ? agent_lock_memory() : APR_SUCCESS;

    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_DEBUG, rv, server, ADMLOGNO(0137)
                     "the agent's memory cannot be locked: it can be late when "
                     "the system swaps");
    }
}

/* The whole life of the agent's process. Does not return. */
static void work(pid_t parent)
{
    agent_task_t tasks[ADMISSION_PARTS_NUMBER + 1];
    adm_segment_t *segment = admission_process_segment();
    apr_status_t rv;

    agent_begin(segment);
    ap_close_listeners();
    lock_memory();
    list_tasks(tasks);
    /* _exit(), because the exit handlers are the parent's. */
    if (ap_run_drop_privileges(pool, server) != OK) {
        _exit(CANNOT_WORK); /* httpd has logged the reason */
    }
    rv = agent_run(segment, parent, tasks, pool);
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, server, ADMLOGNO(0130)
                     "cannot register admission-agent: %s",
                     rv == ADM_NO_CHILD ? "the table of children is full"
                                        : "the shared memory is corrupt");
        _exit(CANNOT_WORK);
    }
    _exit(0);
}

/* ---- the parent ----------------------------------------------------------- */

/* Log once per configuration that no agent runs. Children then make the rounds,
 * less often. */
static void warn_of_missing_agent(apr_status_t rv)
{
    if (!has_warned) {
        ap_log_error(
            APLOG_MARK, APLOG_WARNING, rv, server, ADMLOGNO(0131)
            "admission-agent does not run; children reclaim the permits of "
            "dead children themselves, more slowly; remove the reason, such as "
            "a limit on processes, then reload httpd");
    }
    has_warned = true;
}

static void ended(int reason, void *data, apr_wait_t status);

static void start(void)
{
    pid_t parent = getpid();
    apr_status_t rv;

    started_at = adm_now();
    rv = apr_proc_fork(process, pool);
    if (rv == APR_INCHILD) {
        work(parent);
    }
    if (rv != APR_INPARENT) {
        warn_of_missing_agent(rv);
        return;
    }
    is_running = true;
    apr_proc_other_child_register(process, ended, process, NULL, pool);
    ap_log_error(APLOG_MARK, APLOG_DEBUG, 0, server, ADMLOGNO(0132)
                 "admission-agent is process %" APR_PID_T_FMT, process->pid);
}

/* @return whether the MPM has left its main loop, to exit or to reload: the
 * agent ends with its configuration, and no other one is started. */
static bool is_mpm_stopping(void)
{
    return admission_capacity_query(AP_MPMQ_MPM_STATE, AP_MPMQ_STOPPING)
           == AP_MPMQ_STOPPING;
}

int admission_agent_monitor(apr_pool_t *p, server_rec *s)
{
    if (process && !is_running && !is_mpm_stopping()
        && adm_now() - started_at >= PAUSE_USEC) {
        start();
    }
    return OK;
}

/* The agent has exited. @param status its exit code, or the signal that killed
 * it */
static void note_end(apr_wait_t status)
{
    adm_segment_t *segment = admission_process_segment();

    is_running = false;
    adm_agent_gone(segment);
    adm_child_ended(segment, process->pid);
    if (is_mpm_stopping()) {
        return;
    }
    if (status == CANNOT_WORK) {
        process = NULL;
        warn_of_missing_agent(APR_SUCCESS);
        return;
    }
    /* Exit code 0: it received SIGTERM, perhaps with all of httpd. */
    ap_log_error(APLOG_MARK, status == 0 ? APLOG_INFO : APLOG_WARNING, 0,
                 server, ADMLOGNO(0133)
                 "admission-agent ended (exit code or signal %d); restarting "
                 "it; no permit is lost",
                 (int)status);
    admission_agent_monitor(pool, server);
}

/* @return whether the agent is still running. False in a forked process that
 * runs the same cleanups, as the agent is not its child. */
static bool is_there(void)
{
    return waitpid(process->pid, NULL, WNOHANG) == 0;
}

/* Called by httpd when the agent has exited, and for other reasons. */
static void ended(int reason, void *data, apr_wait_t status)
{
    if (reason != APR_OC_REASON_DEATH && reason != APR_OC_REASON_LOST) {
        return; /* still running, and stopped by the pool's cleanup */
    }
    apr_proc_other_child_unregister(data);
    if (is_there()) { /* SIGSTOP, not an exit */
        apr_proc_other_child_register(process, ended, process, NULL, pool);
    }
    else {
        note_end(status);
    }
}

static bool wait_until_gone(void)
{
    adm_usec_t until = adm_now() + PATIENCE_USEC;

    while (is_there() && adm_now() < until) {
        apr_sleep(NAP_USEC);
    }
    return !is_there();
}

/* Stop the agent when the configuration is unloaded. APR's own cleanup would
 * regard an agent stopped by SIGSTOP as exited. */
static apr_status_t end(void *unused)
{
    if (is_running && is_there()) {
        kill(process->pid, SIGTERM);
        kill(process->pid, SIGCONT);
        if (!wait_until_gone()) {
            kill(process->pid, SIGKILL);
            wait_until_gone();
        }
    }
    return APR_SUCCESS;
}

static bool is_wanted(void)
{
    return admission_process_segment()
           && admission_zones()
           /* httpd -X runs as one process. */
           && !ap_exists_config_define("DEBUG")
           && !ap_exists_config_define("ONE_PROCESS");
}

int admission_agent_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                apr_pool_t *ptemp, server_rec *s)
{
    int part;

    pool = pconf;
    server = s;
    process = NULL;
    is_running = false;
    has_warned = false;
    if (is_wanted()) {
        process = apr_pcalloc(pconf, sizeof(*process));
        for (part = 0; part < ADMISSION_PARTS_NUMBER; part++) {
            setups[part] = admission_parts[part]->agent.setup
                               ? admission_parts[part]->agent.setup(pconf, s)
                               : NULL;
        }
        apr_pool_cleanup_register(pconf, NULL, end, apr_pool_cleanup_null);
        start();
    }
    return OK;
}
