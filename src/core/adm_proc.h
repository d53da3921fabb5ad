/* adm_proc.h - what the system says of a process.
 * Called by adm_child and adm_program. Makes system calls; holds no lock.
 *
 * A process is known by its pid and a moment at which it was there: whoever
 * started later under that pid is another one. The process may be another
 * user's, and /proc may not show it.
 */
#ifndef ADM_PROC_H
#define ADM_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "adm_time.h"

/** The time on the clock by which the system notes when a process started.
 *  Async-signal-safe. */
adm_usec_t adm_proc_now(void);

/** @return whether no process has this pid. A zombie has it. One system call. */
bool adm_proc_is_gone(pid_t pid);

/** @return whether the process that was there at @a seen, by adm_proc_now(), was
 *  reaped or is a zombie. One that /proc does not show is assumed to live as long
 *  as any process that lives has its pid; without pidfd_open(), a zombie too. */
bool adm_proc_has_ended(pid_t pid, adm_usec_t seen);

/** @return whether the system says what the process that was there at @a seen has
 *  used: processor time, and bytes of memory now. */
bool adm_proc_usage(pid_t pid, adm_usec_t seen, adm_usec_t *processor,
                    uint64_t *rss);

/** The same as adm_proc_has_ended(), or it does so in the next few milliseconds.
 *  Blocks for as long. A child of the caller stays to be reaped. */
bool adm_proc_ends_now(pid_t pid, adm_usec_t seen);

/** What a process took in its life, with those whose end it has waited for. */
typedef struct adm_proc_took_t {
    uint64_t size_kb; /* its resident set now; 0: it has ended */
    uint64_t peak_kb; /* of one of them, at most */
    uint64_t processor_usec;
    uint64_t faults; /* for which it waited for the disk */
} adm_proc_took_t;

/** @return whether the system says what the process that was there at @a seen has
 *  taken so far, without its children. Three system calls for each of two files.
 *  @a root: in front of /proc; "" is the system's. */
bool adm_proc_takes(const char *root, pid_t pid, adm_usec_t seen,
                    adm_proc_took_t *usage);

/** @return whether a child of the caller has ended, is still to be reaped, and what
 *  it took is in @a usage. One system call, does not block. */
bool adm_proc_took(pid_t pid, adm_proc_took_t *usage);

#endif
