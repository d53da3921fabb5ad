/* test_programs.h - programs that a test starts, and the request that starts them.
 *
 * Each program is cat: it lives until its standard input, the write end of which the test holds,
 * is closed.
 */
#ifndef TEST_PROGRAMS_H
#define TEST_PROGRAMS_H

#include "test_support.h"

/** A request that is about to start a program. */
extern adm_ticket_t ticket;

/** Before the first program, and before a process that is to start some. */
void make_life_line(void);

/** A life line, and a zone with one permit and a queue. */
void make_zone(void);

/** As mod_cgi does: announce the program of `ticket` in the child, and fork there. */
pid_t start_program(void);

/** In a new process: become a program with this environment. */
void become_cat(char *const environment[]);

/** Let all programs end. Each process that could start some holds the line as well, until it is
 *  killed or does this. */
void end_program(void);

/** The same, and wait until this one has ended. */
void see_program_end(pid_t program);

/** @return its state, 'Z' when it has ended; 0 without such a process. */
char state_of(pid_t pid, char name[17]);

/** @return whether the process is a cat that has not ended. */
bool is_cat(pid_t pid);

/** @return the process that the ticket has as its program; 0: none. */
pid_t noted(const adm_ticket_t *ticket);

#endif
