/* agent.c - the loop of the agent.
 * Called by src/httpd in a process that the parent forked for it.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "adm_agent.h"
#include "agent.h"
#include "agent_account.h"
#include "agent_fleet.h"
#include "agent_programs.h"
#include "agent_tune.h"

#define TICK_USEC ADM_USEC_PER_SEC

/* ---- the process ---------------------------------------------------------- */

/* What the signal handler needs. */
static adm_segment_t *shared;
static atomic_bool is_ending;

static void end(int signal)
{
    int saved = errno;

    (void)signal;
    atomic_store(&is_ending, true);
    adm_agent_wake(shared); /* also before it has begun to sleep */
    errno = saved;
}

/* What httpd's parent understands as a graceful restart or stop says nothing to
 * the agent, if somebody sends it to the whole group. */
static void take_signals(void)
{
    static const int ignored[] = { SIGPIPE, SIGUSR1, SIGWINCH };
    static const int ends[] = { SIGTERM, SIGHUP, SIGINT };
    struct sigaction action = { .sa_handler = SIG_DFL };
    sigset_t none;
    unsigned n;

    sigemptyset(&action.sa_mask);
    for (n = 1; n < NSIG; n++) {
        sigaction((int)n, &action, NULL); /* those that cannot be had refuse */
    }
    action.sa_handler = SIG_IGN;
    for (n = 0; n < sizeof(ignored) / sizeof(*ignored); n++) {
        sigaction(ignored[n], &action, NULL);
    }
    action.sa_handler = end;
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

    /* Only what is touched: the segment is large, and most of it is empty. What
     * is allocated later only where no limit can make that fail. */
    int future = setrlimit(RLIMIT_MEMLOCK, &all) == 0 ? MCL_FUTURE : 0;

    return mlockall(MCL_CURRENT | MCL_ONFAULT | future) == 0 ? APR_SUCCESS
                                                             : errno;
}

/* A change of user clears this, so it comes after that. */
static void end_with_parent(void)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
}

/* ---- duties --------------------------------------------------------------- */

/* Deaths, orphans, raised limits. */
static adm_usec_t look_around(adm_child_t *self, adm_usec_t now, bool is_woken)
{
    adm_round(self, now, is_woken);
    return adm_round_next(self);
}

/* What is to be done, at most every tick or when the agent is woken. Each returns
 * when it has to be called again at the latest. */
static adm_usec_t (*const duties[])(adm_child_t *self, adm_usec_t now,
                                    bool is_woken) = { look_around, agent_tune,
                                                       agent_account,
                                                       agent_fleet };

/* @return when the next one has to be done. */
static adm_usec_t do_duties(adm_child_t *self, bool is_woken)
{
    adm_usec_t next = adm_now() + TICK_USEC;
    unsigned n;

    for (n = 0; n < sizeof(duties) / sizeof(*duties); n++) {
        adm_usec_t at = duties[n](self, adm_now(), is_woken);

        next = at < next ? at : next;
    }
    return next;
}

apr_status_t agent_run(adm_segment_t *segment, pid_t parent,
                       const agent_setup_t *setup, apr_pool_t *pool)
{
    static agent_sense_t sense;
    unsigned calls, answered = 0;
    adm_child_t *self;
    adm_usec_t until;
    apr_status_t rv;

    end_with_parent();
    rv = adm_child_register(&self, segment, 0, pool);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    agent_programs_begin(self, "");
    agent_sense_open(&sense, "");
    agent_tune_begin(self, setup, &sense, pool);
    agent_account_begin(&sense);
    agent_fleet_begin(self, setup, pool);
    /* First the word to sleep on, then whatever decides whether to. */
    while (calls = adm_agent_calls(segment),
           !atomic_load(&is_ending) && getppid() == parent) {
        adm_agent_beat(segment, adm_now());
        until = do_duties(self, calls != answered);
        answered = calls;
        if (!agent_fleet_sleep(segment, calls, until)) {
            adm_agent_sleep(segment, calls, until);
        }
    }
    agent_tune_end(adm_now());
    agent_fleet_end(self);
    adm_agent_gone(segment);
    return APR_SUCCESS;
}
