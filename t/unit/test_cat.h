/* test_cat.h - programs that live as long as a test wants.
 *
 * Each is cat: it lives until its standard input, the write end of which the
 * test holds, is closed.
 */
#ifndef TEST_CAT_H
#define TEST_CAT_H

#include "test_support.h"

/** Before the first program, and before a process that is to start some. */
void make_life_line(void);

/** Let all programs end. Each process that could start some holds the line as
 *  well, until it is killed or does this. */
void end_program(void);

/** In a new process: become a program with this environment. */
void become_cat(char *const environment[]);

/** As mod_cgi does: announce in the child, and fork there. */
pid_t start_program(adm_ticket_t *ticket);

/** As mod_cgid's daemon does: fork with the token in the environment of what is
 *  started. */
pid_t start_with_token(const char *token);

/** In a new process: its first thread ends, another one stays. */
void leave_to_a_thread(void);

/** @return whether the process is a cat that has not ended. */
bool is_cat(pid_t pid);

/** @return whether /proc says that it has ended: of its first thread. */
bool looks_like_zombie(pid_t pid);

#endif
