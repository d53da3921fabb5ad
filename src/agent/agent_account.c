/* agent_account.c - the duty of the agent that samples what programs take.
 * Called by agent.
 *
 * For people. The last sample of a program is what is known of it when no process was
 * told at its end, so a quarter of a second while any runs.
 */
#include "core/adm_account.h"
#include "agent_account.h"
#include "agent_programs.h"

#define BUSY_USEC (ADM_USEC_PER_SEC / 4)
#define IDLE_USEC ADM_USEC_PER_SEC

/* In one look; of more a part each time, as each costs some 40 us. */
#define PROGRAMS_MOST 32

/* Looks after which the limits of control groups are read again. */
#define LOOKS_SLOW 30

static agent_sense_t *senses;
static adm_usec_t next;
static unsigned looks;

static void begin(adm_child_t *self, const void *setup, agent_sense_t *sense,
                  apr_pool_t *pool)
{
    (void)self;
    (void)setup;
    (void)pool;
    senses = sense;
    next = 0;
    looks = 0;
}

static uint64_t available_kb(void)
{
    bool is_slow = looks++ % LOOKS_SLOW == 0;
    uint64_t kb = agent_sense_available_kb(senses, is_slow);

    return kb < UINT32_MAX ? kb : 0; /* not known */
}

static adm_usec_t look(adm_child_t *self, adm_usec_t now, bool is_woken)
{
    (void)is_woken;
    if (now >= next) {
        next = now
               + (agent_programs_look(PROGRAMS_MOST) ? BUSY_USEC : IDLE_USEC);
        adm_account_note_available(self, available_kb());
    }
    return next;
}

const agent_duty_t agent_account_duty = { .begin = begin, .look = look };
