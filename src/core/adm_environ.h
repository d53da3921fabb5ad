/* adm_environ.h - find the environment of a program that is about to start.
 * Called by adm_program, in the handler that runs before a fork.
 */
#ifndef ADM_ENVIRON_H
#define ADM_ENVIRON_H

/**
 * Find an entry in the environment that the caller of fork() is about to pass
 * to a program. Only for a pthread_atfork() handler that runs before the fork.
 * Makes inexpensive system calls, takes no lock, allocates nothing.
 *
 * @param prefix  start of the entry; it must be unique in the process, or
 *                 another entry might be found
 * @return the entry's address in the environment; NULL: none
 */
char **adm_environ_entry(const char *prefix);

/** Remove an entry from its environment. */
void adm_environ_remove(char **entry);

#endif
