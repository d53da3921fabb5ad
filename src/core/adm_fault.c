/* adm_fault.c - kill this process at a named point. Test library only. */
#include "adm_fault.h"

#ifdef ADM_FAULTS

#include <signal.h>
#include <unistd.h>

static adm_fault_t armed_point;
static unsigned reaches_left;

void adm_fault_arm(adm_fault_t point, unsigned nth)
{
    armed_point = point;
    reaches_left = nth;
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

void adm_fault_reach(adm_fault_t point)
{
    if (point == armed_point && --reaches_left == 0) {
        kill(getpid(), SIGKILL);
    }
}

#else

typedef int adm_fault_is_empty_t; /* ISO C wants something in every file */

#endif
