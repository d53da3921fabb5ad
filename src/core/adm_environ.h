/* adm_environ.h - the environment that a program is about to get.
 * Called by adm_program, in the handler that runs before a fork.
 */
#ifndef ADM_ENVIRON_H
#define ADM_ENVIRON_H

/**
 * Look for an entry in the environment that the caller of fork() is going to
 * give to a program. Call it from a handler that pthread_atfork() runs before
 * the fork. Makes cheap system calls, takes no lock, allocates nothing.
 *
 * @param beginning  how the entry begins; nothing else in the process may begin
 *                   so, or that may be found instead
 * @return the place of the entry in the environment, NULL if there is none.
 */
char **adm_environ_entry(const char *beginning);

/** Take an entry out of its environment. */
void adm_environ_remove(char **entry);

#endif
