/* adm_fault.c - kill or stop this process at a named point.
 * Linked by tests; called through ADM_FAULT() by every file of the core.
 */
#include <signal.h>
#include <unistd.h>

#include "core/adm_fault.h"
#include "auto/law_tune_state.h"

uint32_t law_tune_off;

static adm_fault_t armed_point;
static unsigned reaches_left;
static int armed_signal;

static void arm(adm_fault_t point, unsigned nth, int signal_number)
{
    armed_point = point;
    reaches_left = nth;
    armed_signal = signal_number;
}

void adm_fault_arm(adm_fault_t point, unsigned nth)
{
    arm(point, nth, SIGKILL);
}

void adm_fault_arm_stop(adm_fault_t point, unsigned nth)
{
    arm(point, nth, SIGSTOP);
}

const char *adm_fault_name(adm_fault_t point)
{
    static const char *const names[] = { "none",
#define ADM_FAULT_NAME(name) #name,
                                         ADM_FAULT_POINTS(ADM_FAULT_NAME)
#undef ADM_FAULT_NAME
    };

    return names[point];
}

/* ADM_FAULT_end is armed for any point. */
void adm_fault_reach(adm_fault_t point)
{
    if ((point == armed_point || armed_point == ADM_FAULT_end) && --reaches_left == 0) {
        kill(getpid(), armed_signal);
    }
}
