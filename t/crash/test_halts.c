/* test_halts.c - stories of a child that is stopped with a permit. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/test_support.h"
#include "adm_proc.h"
#include "test_scenes.h"

enum { IS_AWAITED = 0, STOPPED = 1 }; /* shared words */

/* Its program has ended; it ends with whoever started it. */
static int stop_with_permit(void *unused)
{
    adm_child_t *child;
    adm_ticket_t ticket = { 0 };
    pid_t program;

    (void)unused;
    adm_fault_arm(ADM_FAULT_none, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    child = join();
    NEED(child != NULL);
    if (enter(child, zone, &ticket) != ADM_ADMITTED) {
        return 1; /* somebody else has it */
    }
    adm_program_announce(&ticket, ADM_START_HERE);
    adm_program_is_all(&ticket);
    program = fork();
    if (program == 0) {
        _exit(0);
    }
    NEED(end_of(program) == 0);
    raise(SIGSTOP);
    return 0;
}

/* @return whether it has a permit now. */
static bool start_stopped_child(void)
{
    pid_t pid = start(stop_with_permit, NULL);
    int status;

    atomic_store(&shared[STOPPED], (unsigned)pid);
    return waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status);
}

static void end_stopped_child(void)
{
    pid_t pid = (pid_t)atomic_load(&shared[STOPPED]);

    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

bool stopped_child_has_ended(void)
{
    return adm_proc_has_ended((pid_t)atomic_load(&shared[STOPPED]),
                              adm_proc_now());
}

void take_from_stopped_child(adm_child_t *child)
{
    adm_ticket_t ticket = { 0 };

    if (start_stopped_child()) {
        enter(child, zone, &ticket);
        adm_round(child, adm_now(), true);
        leave(&ticket);
        end_stopped_child();
    }
}

int take_from_stopped(void *unused)
{
    adm_child_t *child;

    (void)unused;
    NEED(start_stopped_child());
    child = join();
    NEED(child != NULL);
    atomic_store(&shared[IS_AWAITED], 1);
    NEED_SOON(queued_in(zone) > 0);
    arm();
    adm_round(child, adm_now(), true);
    end_stopped_child();
    return 0;
}
