/* adm/program.h - programs that a request starts.
 * Included by adm.h, which is what others include.
 */
#ifndef ADM_PUBLIC_PROGRAM_H
#define ADM_PUBLIC_PROGRAM_H

#include "ticket.h"

/** Longest text of adm_program_token(), with its end. */
#define ADM_TOKEN_LENGTH 64

/** Name of the environment variable that carries the token. */
#define ADM_TOKEN_VARIABLE "ADMISSION_TICKET"

/**
 * Register what each fork from now on does in the new process: give up the
 * registration; for a program that was announced, note its pid in the ticket
 * and unblock all signals. The parent, before the first fork: children and
 * mod_cgid's daemon inherit it.
 */
apr_status_t adm_program_watch_forks(adm_segment_t *segment);

/**
 * Try whether a process that starts a program with APR can be told by its token
 * for which ticket. The parent, after adm_program_watch_forks(); forks once and
 * waits for the end of that process.
 */
bool adm_program_try_token(apr_pool_t *pool);

/** Whatever the calling process forks is no program of a ticket: it is not taken
 *  for a daemon that starts some. For a child that does not register. */
void adm_program_start_none(void);

/**
 * The text by which a daemon that starts a program knows the ticket, for the
 * program's environment; the program does not see it. It is a secret: who
 * knows it can write another one.
 */
void adm_program_token(const adm_ticket_t *ticket, char text[ADM_TOKEN_LENGTH]);

/** Who starts a program. */
typedef enum adm_start_t {
    ADM_START_HERE,     /* the calling thread forks next for it */
    ADM_START_BY_TOKEN, /* a daemon, which gets the token */
    ADM_START_UNSEEN    /* somebody else: its pid will not be known */
} adm_start_t;

/**
 * The calling thread is about to start a program for this ticket, or to have it
 * started. From now on the permit outlives the child for as long as the program
 * may live. Waits a few milliseconds if an earlier program of the ticket is just
 * ending.
 */
void adm_program_announce(adm_ticket_t *ticket, adm_start_t start);

/** What the calling thread forks from now on is not the announced program:
 *  nobody started it. */
void adm_program_withdraw(void);

/** @return whether a program was announced for this ticket. */
bool adm_program_was_announced(const adm_ticket_t *ticket);

/**
 * @return whether every program of this ticket has provably ended, or does so in
 * a few milliseconds; then none can start any more. Makes system calls. Where it
 * cannot be known, the answer is false.
 */
bool adm_program_has_ended(const adm_ticket_t *ticket);

/**
 * @return whether a program of this ticket lives on although its request has
 * been destroyed, and httpd has ended what it could: that may be another user's,
 * or nobody told httpd its pid. If not, none can start any more. Makes system
 * calls.
 */
bool adm_program_outlives_request(const adm_ticket_t *ticket);

#endif
