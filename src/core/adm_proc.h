/* adm_proc.h - what the system reports about a process.
 * Included by adm.h. Makes system calls; takes no lock.
 *
 * A process is identified by its PID and a moment at which it existed: a
 * process that started later has reused the PID. The process can be another
 * user's, and hidden in /proc.
 */
#ifndef ADM_PROC_H
#define ADM_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "adm_time.h"

/** @return whether no process has this PID; a zombie still has it. One system
 *  call. */
bool adm_proc_is_gone(pid_t pid);

/** @return whether the process that existed at @a seen (adm_clock_since_boot())
 *  was reaped or is a zombie. If /proc hides it, any process with this PID
 *  counts as alive; without pidfd_open(), a zombie, too. */
bool adm_proc_has_ended(pid_t pid, adm_usec_t seen);

/** As adm_proc_has_ended(), but waits a few milliseconds for the end. Does not
 *  reap a child of the caller. */
bool adm_proc_ends_now(pid_t pid, adm_usec_t seen);

/** What a process used in its life, including children that it has waited
 *  for. */
typedef struct adm_proc_usage_t {
    uint64_t size_kb; /* current resident set; 0: it has ended */
    uint64_t peak_kb; /* largest resident set of any of them */
    uint64_t processor_usec;
    uint64_t faults; /* page faults that needed disk I/O */
} adm_proc_usage_t;

/**
 * @return whether the system shows what the process that existed at @a seen has
 *         used so far, without its children. Three system calls for each of two
 *         files.
 *
 * @param root  prefix of /proc; "" for the system's own
 */
bool adm_proc_current_usage(const char *root, pid_t pid, adm_usec_t seen,
                            adm_proc_usage_t *usage);

/** @return whether @a pid is a child of the caller that has ended and was not
 *  reaped; @a usage is what it used. One system call, does not block. */
bool adm_proc_final_usage(pid_t pid, adm_proc_usage_t *usage);

#endif
