/* agent_programs.h - how much memory the programs of a zone have.
 * Called by agent_tune.
 *
 * Where the child that started a program also sees it end, the core knows its
 * peak exactly. Elsewhere what was seen at the last look before its end has to do.
 */
#ifndef AGENT_PROGRAMS_H
#define AGENT_PROGRAMS_H

#include <apr_pools.h>

#include "adm_auto.h"
#include "agent_file.h"

/** More of a zone are not watched. */
#define AGENT_PROGRAMS_MOST 1024

/** One that runs. */
typedef struct agent_program_t {
    adm_auto_program_t is;
    agent_file_t size; /* /proc/PID/statm */
    uint32_t peak_kb;
} agent_program_t;

/** Those of one zone, sorted by ticket. */
typedef struct agent_programs_t {
    agent_program_t *list; /* room for AGENT_PROGRAMS_MOST */
    agent_program_t *spare;
    uint32_t count;
    bool has_costs;
    /* Of those that can be seen; of one that costs several permits a part for each. */
    uint32_t rss_kb[AGENT_PROGRAMS_MOST];
    uint32_t seen; /* how many these are */
    uint64_t told; /* during a look: of how many that ended the core has told */
} agent_programs_t;

/** Those that ended since the last look, and whose peak is known; the same of these. */
typedef struct agent_ended_t {
    uint32_t count;
    uint64_t peak_kb;
    uint64_t peak_square_kb2;
    uint32_t peak_largest_kb;
} agent_ended_t;

/** Nothing is watched yet. @a has_costs: they may cost more than a permit, and all are
 *  measured here. */
void agent_programs_begin(agent_programs_t *programs, bool has_costs,
                          apr_pool_t *pool);

/**
 * Look at those that run now.
 *
 * @param root   in front of /proc; "" is the system's
 * @param told   how many have ended since the last look whose peaks the core knows;
 *               not looked at where they have costs
 * @param ended  filled with those that have ended and of which it does not
 */
void agent_programs_look(agent_programs_t *programs, const char *root,
                         const adm_auto_program_t *now, uint32_t count,
                         uint64_t told, agent_ended_t *ended);

#endif
