/* adm_program.c - the programs that requests start, and whether they live.
 * Called by the module for each program, by adm_round for orphans.
 *
 * A process that becomes a program first writes its PID into the ticket that
 * pays for it. mod_cgi forks in the child, in the thread that has announced the
 * program. mod_cgid forks in a daemon, which finds the ticket by a token in the
 * program's environment and removes the token.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <apr_pools.h>
#include <apr_thread_proc.h>

#include "adm_child.h"
#include "adm_environ.h"
#include "adm_fault.h"
#include "adm_layout.h"
#include "adm_proc.h"
#include "adm_program.h"

/* ---- the name of a ticket ------------------------------------------------- */

void adm_ticket_name(const adm_ticket_t *ticket,
                     char text[ADM_TICKET_NAME_LENGTH])
{
    snprintf(text, ADM_TICKET_NAME_LENGTH, "%x.%llx", ticket->idx,
             (unsigned long long)ticket->arrival);
}

adm_ticket_rec_t *adm_ticket_named(const adm_segment_t *segment,
                                   const char *name, uint32_t *idx,
                                   uint64_t *arrival)
{
    char *rest;

    *idx = (uint32_t)strtoul(name, &rest, 16);
    if (*rest != '.') {
        return NULL;
    }
    *arrival = strtoull(rest + 1, NULL, 16);
    return adm_ticket_at(segment, *idx);
}

/* A token is a ticket's name behind the secret of the segment. */
void adm_program_token(const adm_ticket_t *ticket, char text[ADM_TOKEN_LENGTH])
{
    char name[ADM_TICKET_NAME_LENGTH];

    adm_ticket_name(ticket, name);
    snprintf(text, ADM_TOKEN_LENGTH, "%016llx.%s",
             (unsigned long long)ticket->child->segment->header->instance,
             name);
}

/* Write the start of the environment's entry with a token. */
#define TOKEN_PREFIX_LENGTH 64

static void write_prefix(const adm_segment_t *segment,
                         char text[TOKEN_PREFIX_LENGTH])
{
    snprintf(text, TOKEN_PREFIX_LENGTH, ADM_TOKEN_VARIABLE "=%016llx.",
             (unsigned long long)segment->header->instance);
}

/* ---- at each fork --------------------------------------------------------- */

static adm_segment_t *watched;

/* Whether this process is a fork of the one that set up the watch, and so can
 * be a daemon that starts programs. */
static bool is_descendant;

/* The program that the calling thread starts with its next fork. */
typedef struct announcement_t {
    adm_ticket_rec_t *rec; /* NULL: none */
    uint64_t arrival;
    bool is_by_token;
    sigset_t mask; /* signal mask of the thread, to be restored */
} announcement_t;

static _Thread_local announcement_t announced;

/* State of the self-test, adm_program_try_token(). */
static enum { NOT_TRYING, TRYING, FOUND } trial;

/* Read the announcement from the environment of the program to be started, and
 * remove it there. For a process that is not a registered child, before it
 * forks. */
static void take_token(void)
{
    char prefix[TOKEN_PREFIX_LENGTH];
    char **entry;
    uint32_t idx;

    write_prefix(watched, prefix);
    entry = adm_environ_entry(prefix);
    if (!entry) {
        return;
    }
    announced.rec = adm_ticket_named(watched, *entry + strlen(prefix), &idx,
                                     &announced.arrival);
    announced.is_by_token = true;
    adm_environ_remove(entry);
}

/* Find the ticket whose program the fork starts, if there is one. */
static void find_ticket(void)
{
    /* This first access can allocate `announced`. The new process could not:
     * malloc() is not async-signal-safe. */
    if (announced.rec) {
        return;
    }
    announced.is_by_token = false;
    if (trial == TRYING || (is_descendant && !adm_child_is_registered_here())) {
        take_token();
    }
    if (trial == TRYING && announced.is_by_token) {
        trial = FOUND;
    }
}

/* Before any process forks. */
static void before_fork(void)
{
    sigset_t all;

    find_ticket();
    if (announced.rec) {
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &announced.mask);
    }
}

/* Record this process as the ticket's program. Async-signal-safe. @return false
 * if the ticket is closed, or has ended. */
static bool note_program(const announcement_t *of)
{
    uint64_t program = atomic_load(&of->rec->program);
    uint64_t ours = adm_program_word(of->arrival, (uint32_t)getpid());

    while (program >> 32 == ours >> 32) {
        if (adm_program_pid(program) == ADM_PROGRAM_CLOSED) {
            return false;
        }
        atomic_store(&of->rec->program_seen, adm_clock_since_boot());
        if (atomic_compare_exchange_weak(&of->rec->program, &program, ours)) {
            return true; /* P2_note */
        }
    }
    return false;
}

#if defined(SYS_close_range) && !defined(CLOSE_RANGE_CLOEXEC)
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

/* Close all descriptors except 0 to 2 on exec: what this program needs becomes
 * 0 to 2 before. Another thread might be starting a program, too. If this one
 * inherited that program's pipe, that program's response would not end, and its
 * permit would not be released, until this one ends. */
static void inherit_no_pipes(void)
{
#ifdef SYS_close_range
    syscall(SYS_close_range, STDERR_FILENO + 1U, ~0U, CLOSE_RANGE_CLOEXEC);
#endif
}

/* The only descriptor that programs inherit, which is read-only; 0: none. */
static int left_open;

void adm_program_leave_open(int fd)
{
    left_open = fd;
}

/* End at a signal, as the program would. httpd's handlers clean up a child:
 * there, this process could wait for threads that it does not have, and keep
 * the listening sockets. */
static void drop_handlers(void)
{
    static const int signals[] = { SIGTERM, SIGHUP, SIGINT, SIGUSR1, SIGWINCH };
    size_t n;

    for (n = 0; n < sizeof(signals) / sizeof(signals[0]); n++) {
        if (signal(signals[n], SIG_DFL) == SIG_IGN) {
            signal(signals[n], SIG_IGN);
        }
    }
}

/* Called between fork and exec: only async-signal-safe functions. */
static void become_program(void)
{
    sigset_t none;

    ADM_FAULT(program_forked);
    if (!announced.rec || !note_program(&announced)) {
        /* Too late: the permit has been given to another request. */
        _exit(0);
    }
    ADM_FAULT(program_noted);
    announced.rec = NULL;
    inherit_no_pipes();
    if (left_open > 0) {
        fcntl(left_open, F_SETFD, 0);
    }
    drop_handlers();
    /* Threads of worker and event block most signals. A program that inherited
     * this would ignore httpd's SIGTERM. */
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
}

static void after_fork_in_parent(void)
{
    if (announced.rec) {
        pthread_sigmask(SIG_SETMASK, &announced.mask, NULL);
        announced.rec = NULL;
    }
}

static void after_fork_in_child(void)
{
    is_descendant = true;
    adm_child_forget_self();
    if (announced.rec || announced.is_by_token) {
        become_program();
    }
}

apr_status_t adm_program_watch_forks(adm_segment_t *segment)
{
    bool is_watching = watched != NULL;

    watched = segment;
    return is_watching ? APR_SUCCESS
                       : pthread_atfork(before_fork, after_fork_in_parent,
                                        after_fork_in_child);
}

bool adm_program_try_token(apr_pool_t *pool)
{
    char *token = apr_palloc(pool, TOKEN_PREFIX_LENGTH);
    const char **environment = apr_pcalloc(pool, 3 * sizeof(*environment));
    const char *const arguments[] = { "no-program", NULL };
    apr_procattr_t *attributes;
    apr_proc_t process;
    bool is_found;

    write_prefix(watched, token); /* names no ticket */
    environment[0] = "PATH=/bin";
    environment[1] = token;
    trial = TRYING;
    if (apr_procattr_create(&attributes, pool) == APR_SUCCESS
        && apr_procattr_cmdtype_set(attributes, APR_PROGRAM) == APR_SUCCESS
        && apr_proc_create(&process, arguments[0], arguments, environment,
                           attributes, pool)
               == APR_SUCCESS) {
        apr_proc_wait(&process, NULL, NULL, APR_WAIT);
    }
    is_found = trial == FOUND;
    trial = NOT_TRYING;
    return is_found;
}

void adm_program_start_none(void)
{
    is_descendant = false;
}

/* ---- announce ------------------------------------------------------------- */

bool adm_program_is_of(const adm_ticket_t *ticket)
{
    return adm_ticket_rec(ticket)->arrival == ticket->arrival;
}

/* Close the ticket to programs, if none is recorded. @return the recorded
 * program; 0: none, and none can start any more. */
static pid_t last_program(adm_ticket_rec_t *rec, uint64_t arrival)
{
    uint64_t program = adm_program_word(arrival, 0);

    /* P3_close, P4_close_orphan */
    if (atomic_compare_exchange_strong(&rec->program, &program,
                                       adm_program_word(arrival,
                                                        ADM_PROGRAM_CLOSED))
        || program >> 32 != (arrival & UINT32_MAX)
        || adm_program_pid(program) == ADM_PROGRAM_CLOSED) {
        return 0;
    }
    return (pid_t)adm_program_pid(program);
}

/* @return what the ticket has announced; 0 if its only program has ended. */
static unsigned still_announced(adm_ticket_rec_t *rec)
{
    unsigned programs = atomic_load(&rec->programs);
    pid_t pid = (pid_t)adm_program_pid(atomic_load(&rec->program));

    if (programs == ADM_PROGRAMS_ONE && pid > 0
        && adm_proc_ends_now(pid, atomic_load(&rec->program_seen))) {
        return 0;
    }
    return programs;
}

void adm_program_announce(adm_ticket_t *ticket, adm_start_t start)
{
    adm_ticket_rec_t *rec;
    unsigned programs;

    if (!adm_child_is_self(ticket->child) || !atomic_load(&ticket->held)) {
        return;
    }
    if (!adm_program_is_of(ticket)) {
        return;
    }
    rec = adm_ticket_rec(ticket);
    programs = still_announced(rec);
    if (programs == 0) {
        atomic_store(&rec->program, adm_program_word(ticket->arrival, 0));
    }
    if (programs != 0 || start == ADM_START_UNSEEN) {
        programs |= ADM_PROGRAMS_UNSEEN; /* only the last PID is recorded */
    }
    if (start == ADM_START_HERE) {
        announced = (announcement_t){ .rec = rec, .arrival = ticket->arrival };
    }
    /* P1_announce */
    atomic_store(&rec->programs, programs | ADM_PROGRAMS_ONE);
}

void adm_program_withdraw(void)
{
    announced.rec = NULL;
}

bool adm_program_was_announced(const adm_ticket_t *ticket)
{
    return adm_program_is_of(ticket)
           && atomic_load(&adm_ticket_rec(ticket)->programs) > 0;
}

/* ---- check --------------------------------------------------------------- */

bool adm_program_has_ended(const adm_ticket_t *ticket)
{
    adm_ticket_rec_t *rec = adm_ticket_rec(ticket);
    unsigned programs = adm_program_is_of(ticket) ? atomic_load(&rec->programs)
                                                  : 0;

    if (programs == 0 || (programs & ADM_PROGRAMS_UNSEEN)) {
        return programs == 0;
    }
    return adm_proc_ends_now(last_program(rec, ticket->arrival),
                             atomic_load(&rec->program_seen));
}

bool adm_program_is_seen(const adm_ticket_t *ticket)
{
    return adm_program_is_of(ticket)
           && !(atomic_load(&adm_ticket_rec(ticket)->programs)
                & ADM_PROGRAMS_UNSEEN);
}

bool adm_program_outlives_request(const adm_ticket_t *ticket)
{
    adm_ticket_rec_t *rec = adm_ticket_rec(ticket);

    /* httpd has ended the unseen programs that it could end. */
    return adm_program_was_announced(ticket)
           && !adm_proc_has_ended(last_program(rec, ticket->arrival),
                                  atomic_load(&rec->program_seen));
}

bool adm_program_is_over(adm_ticket_rec_t *rec, uint64_t arrival)
{
    pid_t pid = last_program(rec, arrival);

    return !(atomic_load(&rec->programs) & ADM_PROGRAMS_UNSEEN)
           && adm_proc_has_ended(pid, atomic_load(&rec->program_seen));
}
