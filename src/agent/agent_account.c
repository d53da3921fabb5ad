/* agent_account.c - duty of the agent: sample the programs' resource usage.
 * Called by agent.
 *
 * For the status outputs. If no process is notified of a program's end, its
 * last sample is the final value, so running programs are sampled four times
 * per second.
 */
#include "core/adm_account.h"
#include "agent_account.h"
#include "agent_programs.h"

#define BUSY_USEC (ADM_USEC_PER_SEC / 4)
#define IDLE_USEC ADM_USEC_PER_SEC

/* Programs sampled per call, some 40 us each. If there are more, each call
 * samples a part of them. */
#define PROGRAMS_MOST 32

/* Calls after which the limits of cgroups are read again. */
#define CALLS_SLOW 30

static agent_sense_t *senses;
static adm_usec_t next;
static unsigned calls;

static void begin(adm_child_t *self, const void *setup, agent_sense_t *sense,
                  apr_pool_t *pool)
{
    (void)self;
    (void)setup;
    (void)pool;
    senses = sense;
    next = 0;
    calls = 0;
}

static uint64_t available_kb(void)
{
    bool is_slow = calls++ % CALLS_SLOW == 0;
    uint64_t kb = agent_sense_available_kb(senses, is_slow);

    return kb < UINT32_MAX ? kb : 0; /* unknown */
}

static adm_usec_t run(adm_child_t *self, adm_usec_t now, bool is_woken)
{
    (void)is_woken;
    if (now >= next) {
        next = now
               + (agent_programs_sample(PROGRAMS_MOST) ? BUSY_USEC : IDLE_USEC);
        adm_account_note_available(self, available_kb());
    }
    return next;
}

const agent_duty_t agent_account_duty = { .begin = begin, .run = run };
