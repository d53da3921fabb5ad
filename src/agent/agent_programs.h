/* agent_programs.h - sample the resource usage of running programs.
 * Called by agent and auto_duty.
 *
 * Samples are recorded in the program's ticket, see adm_account.h.
 */
#ifndef AGENT_PROGRAMS_H
#define AGENT_PROGRAMS_H

#include "agent_duty.h"

/** Samples the running programs and the available memory, for the status
 *  outputs. Needs no setup. */
extern const agent_duty_t agent_account_duty;

/** Prepare. @param root  prefix of /proc; "" except in tests */
void agent_programs_begin(adm_child_t *self, const char *root);

/**
 * Sample the programs of all zones: memory, peak memory, CPU time, page faults.
 * Six system calls per program.
 * @param most  maximum per call; if there are more, each call samples a part of
 *         them
 * @return whether any program runs.
 */
bool agent_programs_sample(uint32_t most);

/** Sample the memory of all programs of a zone; of new programs, everything.
 *  One system call per program. */
void agent_programs_sample_sizes(adm_zone_t zone);

#endif
