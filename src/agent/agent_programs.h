/* agent_programs.h - samples what the programs take that run.
 * Called by agent_account and auto_duty.
 *
 * Each sample is noted in the record of the program's ticket: see adm_account.h.
 */
#ifndef AGENT_PROGRAMS_H
#define AGENT_PROGRAMS_H

#include "core/adm.h"

/** Prepare. @param root  in front of /proc; "" but in tests */
void agent_programs_begin(adm_child_t *self, const char *root);

/** Sample the programs of all zones: size, largest size, processor time, faults. A part
 *  of them each time if there are more than @a most; six system calls per program.
 *  @return whether there is any. */
bool agent_programs_look(uint32_t most);

/** Sample the size alone of all programs of a zone, and all of those that are new. One
 *  system call per program. */
void agent_programs_look_at_sizes(adm_zone_t zone);

#endif
