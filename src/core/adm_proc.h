/* adm_proc.h - what the system says of a process.
 * Called by adm_program. Makes system calls; holds no lock.
 */
#ifndef ADM_PROC_H
#define ADM_PROC_H

#include <stdbool.h>
#include <sys/types.h>

typedef enum adm_sight_t {
    ADM_SIGHT_GONE,     /* no such process, or only its zombie */
    ADM_SIGHT_OTHER,    /* a process without our token */
    ADM_SIGHT_UNKNOWN,  /* a process that does not show its environment */
    ADM_SIGHT_STARTING, /* a new process before or in exec: it may become ours */
    ADM_SIGHT_OURS
} adm_sight_t;

/** Around a fork, in a process that forks only to start programs: from its birth
 *  until it has become a program, the new process is recognized by its name.
 *  Async-signal-safe; the calling thread bears that name in between. */
void adm_proc_mark_fork(void);
void adm_proc_unmark_fork(void);

/** @return whether the process was reaped or is a zombie. One that cannot be
 *  inspected is assumed to live. */
bool adm_proc_has_ended(pid_t pid);

/** @return whether the process has ended, or does so in the next few
 *  milliseconds. Blocks for as long. */
bool adm_proc_ends_now(pid_t pid);

/** The same for a child of the calling process, which stays to be reaped. */
bool adm_proc_own_child_has_ended(pid_t pid);

/** Look at all children of a process. @return the best of them, with its pid in
 *  @a program if that is more than ADM_SIGHT_OTHER. */
adm_sight_t adm_proc_look_at_children(pid_t spawner, const char *token,
                                      pid_t *program);

/** @return whether any process of the system has @a token, or is a marked fork
 *  that may come to have it. True if they cannot be listed. */
bool adm_proc_is_anywhere(const char *token);

#endif
