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

/** In a new process: become the program of this token. */
void become_cat(const char *token);

/** As mod_cgi does: fork in the child, the token in the environment. */
pid_t start_program(adm_ticket_t *ticket);

/** @return whether the process is a cat that has not ended. */
bool is_cat(pid_t pid);

#endif
