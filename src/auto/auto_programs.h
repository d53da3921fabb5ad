/* auto_programs.h - sample the resource usage of running programs.
 * Called by auto_duty.
 *
 * Samples are recorded in the program's ticket, see adm_account.h.
 */
#ifndef AUTO_PROGRAMS_H
#define AUTO_PROGRAMS_H

#include "auto_sense.h"
#include "core/adm.h"

/** Prepare. @param root  prefix of /proc; "" except in tests */
void auto_programs_begin(adm_child_t *self, const char *root);

/**
 * Sample the programs of all zones: memory, peak memory, CPU time, page faults.
 * Six system calls per program.
 * @param most  maximum per call; if there are more, each call samples a part of
 *         them
 * @return whether any program runs.
 */
bool auto_programs_sample(uint32_t most);

/** Sample the programs and the available memory, for the status outputs, if that
 *  is due. @return when the next sample is due. */
adm_usec_t auto_programs_run(adm_child_t *self, auto_sense_t *sense,
                             adm_usec_t now);

/** Sample the memory of all programs of a zone; of new programs, everything.
 *  One system call per program. */
void auto_programs_sample_sizes(adm_zone_t zone);

#endif
