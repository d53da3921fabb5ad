/* adm/program.h - the programs that a request starts.
 * Included by adm.h, which is what others include.
 */
#ifndef ADM_PUBLIC_PROGRAM_H
#define ADM_PUBLIC_PROGRAM_H

#include "ticket.h"

/** Size of a token, with its NUL. */
#define ADM_TOKEN_LENGTH 64

/** Environment variable that carries the token. */
#define ADM_TOKEN_VARIABLE "ADMISSION_TICKET"

/** Install the fork handlers. A new process gives up its parent's registration;
 *  if it becomes a program that was announced, it records its PID in the ticket
 *  and unblocks all signals. Only for the parent, before its first fork:
 *  children and mod_cgid's daemon inherit the handlers. */
apr_status_t adm_program_watch_forks(adm_segment_t *segment);

/** Test whether a process that starts a program with APR can find the program's
 *  token. Only for the parent, after adm_program_watch_forks(); forks once and
 *  waits for that process. */
bool adm_program_try_token(apr_pool_t *pool);

/** Do not search for tokens in the calling process: its forks are no programs
 *  of tickets. For a child that does not register. */
void adm_program_start_none(void);

/** Write the token of a ticket, for a program's environment. A daemon that
 *  starts the program finds the ticket by it; the program does not see it. The
 *  token is secret: a process that knows one can forge others. */
void adm_program_token(const adm_ticket_t *ticket, char text[ADM_TOKEN_LENGTH]);

/** Which process starts a program. */
typedef enum adm_start_t {
    ADM_START_HERE,     /* the calling thread, with its next fork */
    ADM_START_BY_TOKEN, /* a daemon, which gets the token */
    ADM_START_UNSEEN    /* another one: the PID will not be known */
} adm_start_t;

/** Announce a program: the calling thread is about to start it for this ticket,
 *  or to have it started. From now on the permit outlives the child for as long
 *  as the program may live. Waits a few milliseconds if the ticket's previous
 *  program is just ending. */
void adm_program_announce(adm_ticket_t *ticket, adm_start_t start);

/** Withdraw the announcement: no program was started, and later forks of the
 *  calling thread start none. */
void adm_program_withdraw(void);

/** @return whether a program was announced for this ticket. */
bool adm_program_was_announced(const adm_ticket_t *ticket);

/** @return whether all programs of this ticket have provably ended, or do so
 *  within a few milliseconds; none can start any more then. false if that
 *  cannot be known. Makes system calls. */
bool adm_program_has_ended(const adm_ticket_t *ticket);

/** @return whether a program of this ticket lives on after its request was
 *  destroyed and httpd has ended the programs that it could: it is another
 *  user's, or httpd does not know its PID. If not, none can start any more.
 *  Makes system calls. */
bool adm_program_outlives_request(const adm_ticket_t *ticket);

/** Let programs of this process and of later ones inherit @a fd, by which other
 *  servers detect that they live; 0 or less: none. Only for the parent, at each
 *  load. */
void adm_program_leave_open(int fd);

#endif
