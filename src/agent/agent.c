/* agent.c - the loop of the agent.
 * Called by src/module in a process that the parent forked for it.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/adm_agent.h"
#include "agent.h"
#include "core/adm_number.h"

#define TICK_USEC ADM_USEC_PER_SEC /* longest time between heartbeats */

/* ---- the process ---------------------------------------------------------- */

/* For the signal handler. */
static adm_segment_t *shared;
static atomic_bool is_ending;

static void end_on_signal(int signal)
{
    int saved = errno;

    (void)signal;
    atomic_store(&is_ending, true);
    adm_agent_wake(shared); /* ends the next sleep, if it has not started yet */
    errno = saved;
}

/* Set the agent's own signal handlers. SIGUSR1 and SIGWINCH are ignored: they
 * restart or stop httpd's parent gracefully, and can be sent to the whole
 * process group. */
static void take_signals(void)
{
    static const int ignored[] = { SIGPIPE, SIGUSR1, SIGWINCH };
    static const int ends[] = { SIGTERM, SIGHUP, SIGINT };
    struct sigaction action = { .sa_handler = SIG_DFL };
    sigset_t none;
    unsigned n;

    sigemptyset(&action.sa_mask);
    for (n = 1; n < NSIG; n++) {
        sigaction((int)n, &action, NULL); /* fails for SIGKILL and SIGSTOP */
    }
    action.sa_handler = SIG_IGN;
    for (n = 0; n < sizeof(ignored) / sizeof(*ignored); n++) {
        sigaction(ignored[n], &action, NULL);
    }
    action.sa_handler = end_on_signal;
    for (n = 0; n < sizeof(ends) / sizeof(*ends); n++) {
        sigaction(ends[n], &action, NULL);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

void agent_begin(adm_segment_t *segment)
{
    shared = segment;
    atomic_store(&is_ending, false);
    take_signals();
    prctl(PR_SET_NAME, "admission-agent");
}

apr_status_t agent_lock_memory(void)
{
    struct rlimit all = { .rlim_cur = RLIM_INFINITY,
                          .rlim_max = RLIM_INFINITY };

    /* Lock a page when it is touched: the segment is large and mostly empty.
     * Lock future allocations only without a limit, which would make them
     * fail. */
    int future = setrlimit(RLIMIT_MEMLOCK, &all) == 0 ? MCL_FUTURE : 0;

    return mlockall(MCL_CURRENT | MCL_ONFAULT | future) == 0 ? APR_SUCCESS
                                                             : errno;
}

/* ---- duties --------------------------------------------------------------- */

/* Make the reclaim round, then do each duty. @return when the next one is
 * due. */
static adm_usec_t do_duties(adm_child_t *self, const agent_task_t *tasks,
                            bool is_woken)
{
    adm_usec_t next = adm_now() + TICK_USEC, at;

    adm_round(self, adm_now(), is_woken);
    at = adm_round_next(self);
    for (;; tasks++) {
        next = at < next ? at : next;
        if (!tasks->duty) {
            return next;
        }
        at = tasks->duty->run(self, adm_now(), is_woken);
    }
}

static void start_duties(adm_child_t *self, const agent_task_t *tasks,
                         apr_pool_t *pool)
{
    for (; tasks->duty; tasks++) {
        tasks->duty->begin(self, tasks->setup, pool);
    }
}

static void end_duties(adm_child_t *self, const agent_task_t *tasks)
{
    for (; tasks->duty; tasks++) {
        if (tasks->duty->end) {
            tasks->duty->end(self, adm_now());
        }
    }
}

/* ---- the loop ------------------------------------------------------------- */

/* Sleep until @a until, until the agent is woken, or until a duty's descriptor
 * is ready. */
static void wait_until(adm_segment_t *segment, const agent_task_t *tasks,
                       unsigned wakes, adm_usec_t until)
{
    struct pollfd descriptors[1 + AGENT_DESCRIPTORS] = { { 0 } };
    struct timespec timeout;
    unsigned count = 1;
    adm_usec_t left;

    for (; tasks->duty; tasks++) {
        if (tasks->duty->prepare_poll) {
            count += tasks->duty->prepare_poll(descriptors + count, &until);
        }
    }
    if (count == 1) {
        adm_agent_sleep(segment, wakes, until);
        return;
    }
    descriptors[0].fd = adm_agent_begin_poll(segment, wakes);
    descriptors[0].events = POLLIN;
    if (descriptors[0].fd >= 0) {
        left = until - adm_now();
        timeout = adm_timespec(left > 0 ? left : 0);
        /* ppoll(), because poll() would be a millisecond late. */
        ppoll(descriptors, count, &timeout, NULL);
    }
    adm_agent_end_poll(segment);
}

apr_status_t agent_run(adm_segment_t *segment, pid_t parent,
                       const agent_task_t *tasks, apr_pool_t *pool)
{
    unsigned wakes, handled = 0;
    adm_child_t *self;
    adm_usec_t until;
    apr_status_t rv;

    /* A change of user clears this setting. */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    /* First, so that children that start now leave the rounds to the agent. */
    adm_agent_beat(segment, adm_now());
    rv = adm_child_register(&self, segment, 0, pool);
    if (rv != APR_SUCCESS) {
        adm_agent_gone(segment);
        return rv;
    }
    start_duties(self, tasks, pool);
    /* Read the wake-up counter first: a later wake-up then ends the sleep. */
    while (wakes = adm_agent_wakes(segment),
           !atomic_load(&is_ending) && getppid() == parent) {
        adm_agent_beat(segment, adm_now());
        until = do_duties(self, tasks, wakes != handled);
        handled = wakes;
        wait_until(segment, tasks, wakes, until);
    }
    end_duties(self, tasks);
    adm_agent_gone(segment);
    return APR_SUCCESS;
}
