/* adm_program.c - the programs that requests start, and whether they live.
 * Called by the module at each program, by adm_reap for orphans.
 *
 * mod_cgi forks in the child: the new process writes its pid into the ticket
 * before it becomes the program. mod_cgid forks in a daemon that knows nothing
 * of tickets: its programs are found among the daemon's children by the token
 * in their environment.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "adm_child.h"
#include "adm_layout.h"
#include "adm_proc.h"
#include "adm_program.h"

/* ---- at each fork --------------------------------------------------------- */

static adm_segment_t *watched;

/* Whether this process descends from the one that set up the watch. */
static bool is_descendant;

/* Whose program the calling thread is about to start. */
static _Thread_local adm_ticket_rec_t *announced;
static _Thread_local uint64_t announced_arrival;

/* The place of this pid, or the one that was used longest ago. */
static adm_spawner_rec_t *spawner_place(adm_spawner_rec_t *spawners, pid_t pid)
{
    adm_spawner_rec_t *oldest = &spawners[0];
    unsigned n;

    for (n = 0; n < ADM_SPAWNERS; n++) {
        if (atomic_load(&spawners[n].pid) == pid) {
            return &spawners[n];
        }
        if (atomic_load(&spawners[n].last_fork)
            < atomic_load(&oldest->last_fork)) {
            oldest = &spawners[n];
        }
    }
    return oldest;
}

/* Remember this daemon. */
static void note_spawner(pid_t pid)
{
    adm_header_rec_t *header = watched->header;
    adm_spawner_rec_t *place;
    int other;

    do {
        place = spawner_place(header->spawners, pid);
        other = atomic_load(&place->pid);
        if (other != 0 && other != pid) {
            atomic_store(&header->forgotten_fork,
                         atomic_load(&place->last_fork));
        }
        /* The time first: nobody else takes a place that was just used. */
        atomic_store(&place->last_fork, adm_now());
    } while (!atomic_compare_exchange_strong(&place->pid, &other, pid));
}

/* Whether somebody who may have started our program is not remembered. */
static bool is_spawner_forgotten(const adm_segment_t *segment, adm_usec_t since)
{
    return atomic_load(&segment->header->forgotten_fork) >= since;
}

/* Note this process as the ticket's program, unless the ticket is another one
 * by now: mod_cgid's programs are announced and never forked here, and the next
 * fork may be for another request. Async-signal-safe. */
static void note_program(void)
{
    uint64_t program = atomic_load(&announced->program);
    uint64_t ours = adm_program_word(announced_arrival, (uint32_t)getpid());

    while (program >> 32 == ours >> 32) {
        if (adm_program_pid(program) == ADM_PROGRAM_CLOSED) {
            /* So late that the permit was given to somebody else. */
            _exit(0);
        }
        if (atomic_compare_exchange_weak(&announced->program, &program, ours)) {
            return;
        }
    }
}

#if defined(SYS_close_range) && !defined(CLOSE_RANGE_CLOEXEC)
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

/* Other threads may be starting programs, too: whoever inherits the pipes of
 * another program keeps its answer from ending, and with it a permit. What this
 * program is to have becomes 0 to 2 before exec. */
static void inherit_no_pipes(void)
{
#ifdef SYS_close_range
    syscall(SYS_close_range, STDERR_FILENO + 1U, ~0U, CLOSE_RANGE_CLOEXEC);
#endif
}

/* Between fork and exec: only async-signal-safe calls. */
static void after_fork_in_program(void)
{
    sigset_t none;

    note_program();
    announced = NULL;
    inherit_no_pipes();
    /* Threads of worker and event block most signals, and a program would
     * inherit that: httpd's SIGTERM could not end it. */
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
}

/* mod_cgid's daemon does not wait for what it forks. Others may fork processes
 * that never become programs. */
static bool only_starts_programs(void)
{
    struct sigaction child_ends;

    return sigaction(SIGCHLD, NULL, &child_ends) == 0
           && child_ends.sa_handler == SIG_IGN;
}

/* A daemon is noted before it starts anything: however soon it dies, it is known
 * as the one that may have started something. */
static void before_fork(void)
{
    /* The first look at `announced` may allocate it, which the new process could
     * not. */
    if (!announced && is_descendant && !adm_child_is_registered_here()) {
        note_spawner(getpid());
        if (only_starts_programs()) {
            adm_proc_mark_fork();
        }
    }
}

static void after_fork_in_parent(void)
{
    announced = NULL;
    adm_proc_unmark_fork();
}

static void after_fork_in_child(void)
{
    is_descendant = true;
    adm_child_forget_self();
    if (announced) {
        after_fork_in_program();
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

/* ---- announce ------------------------------------------------------------- */

static void write_token(const adm_segment_t *segment, uint32_t zone_idx,
                        uint32_t ticket_idx, uint64_t arrival,
                        char text[ADM_TOKEN_LENGTH])
{
    snprintf(text, ADM_TOKEN_LENGTH, "%llx.%x.%x.%llx",
             (unsigned long long)segment->header->instance, zone_idx,
             ticket_idx, (unsigned long long)arrival);
}

void adm_program_token(const adm_ticket_t *ticket, char text[ADM_TOKEN_LENGTH])
{
    write_token(ticket->child->segment, ticket->zone_idx, ticket->idx,
                ticket->arrival, text);
}

static adm_ticket_rec_t *rec_of(const adm_ticket_t *ticket)
{
    return adm_ticket_at(ticket->child->segment, ticket->idx);
}

void adm_program_announce(adm_ticket_t *ticket)
{
    if (adm_child_is_self(ticket->child) && atomic_load(&ticket->held)) {
        announced = rec_of(ticket);
        announced_arrival = ticket->arrival;
        atomic_fetch_add(&announced->programs, 1); /* P1_announce */
    }
}

void adm_program_withdraw(void)
{
    announced = NULL;
}

bool adm_program_was_announced(const adm_ticket_t *ticket)
{
    return atomic_load(&rec_of(ticket)->programs) > 0;
}

/* ---- look ----------------------------------------------------------------- */

/* Only a daemon that started something since our request began can have
 * started its program. */
static adm_sight_t look_at_spawned(const adm_segment_t *segment,
                                   const char *token, adm_usec_t since,
                                   pid_t *program)
{
    adm_sight_t best = is_spawner_forgotten(segment, since) ? ADM_SIGHT_UNKNOWN
                                                            : ADM_SIGHT_GONE;
    bool has_spawner = false;
    unsigned n;

    for (n = 0; n < ADM_SPAWNERS && best != ADM_SIGHT_OURS; n++) {
        adm_spawner_rec_t *spawner = &segment->header->spawners[n];
        pid_t pid = atomic_load(&spawner->pid);
        adm_sight_t sight;

        if (pid == 0 || atomic_load(&spawner->last_fork) < since) {
            continue;
        }
        has_spawner = true;
        sight = adm_proc_look_at_children(pid, token, program);
        if (sight > best) {
            best = sight;
        }
    }
    return has_spawner ? best : ADM_SIGHT_UNKNOWN;
}

/* Each process that may be the program gets its moment; one that is just
 * ending shows nothing of itself any more. */
#define MOMENTS 4

static bool daemons_child_has_ended(const adm_ticket_t *ticket)
{
    adm_usec_t since = rec_of(ticket)->since_usec;
    char token[ADM_TOKEN_LENGTH];
    unsigned n;

    adm_program_token(ticket, token);
    for (n = 0; n < MOMENTS; n++) {
        pid_t pid = 0;
        adm_sight_t sight = look_at_spawned(ticket->child->segment, token,
                                            since, &pid);

        if (sight == ADM_SIGHT_GONE) {
            return true;
        }
        if (pid == 0 || !adm_proc_ends_now(pid)) {
            return false;
        }
    }
    return false;
}

bool adm_program_has_ended(const adm_ticket_t *ticket)
{
    adm_ticket_rec_t *rec = rec_of(ticket);
    unsigned programs = atomic_load(&rec->programs);
    pid_t pid = (pid_t)adm_program_pid(atomic_load(&rec->program));

    if (programs != 1) {
        return programs == 0; /* only the last one's pid is known */
    }
    return pid != 0 ? adm_proc_own_child_has_ended(pid)
                    : daemons_child_has_ended(ticket);
}

/* Also one that has been forked but does not run yet, and one whose daemon died
 * after it started the program. */
static bool daemons_child_outlives(const adm_ticket_t *ticket)
{
    const adm_segment_t *segment = ticket->child->segment;
    adm_spawner_rec_t *spawners = segment->header->spawners;
    adm_usec_t since = rec_of(ticket)->since_usec;
    char token[ADM_TOKEN_LENGTH];
    bool outlives;
    unsigned n;

    adm_program_token(ticket, token);
    outlives = is_spawner_forgotten(segment, since)
               && adm_proc_is_anywhere(token);
    for (n = 0; n < ADM_SPAWNERS && !outlives; n++) {
        pid_t pid = atomic_load(&spawners[n].pid), program;

        outlives = pid != 0 && atomic_load(&spawners[n].last_fork) >= since
                   && (adm_proc_look_at_children(pid, token, &program)
                           >= ADM_SIGHT_STARTING
                       || adm_proc_has_ended(pid));
    }
    return outlives;
}

bool adm_program_outlives_request(const adm_ticket_t *ticket)
{
    adm_ticket_rec_t *rec = rec_of(ticket);
    pid_t pid = (pid_t)adm_program_pid(atomic_load(&rec->program));

    if (atomic_load(&rec->programs) == 0) {
        return false;
    }
    /* Reaped with the request, unless somebody had stopped it: APR takes that
     * for its end. */
    return pid != 0 ? !adm_proc_has_ended(pid) : daemons_child_outlives(ticket);
}

/* ---- programs of dead children -------------------------------------------- */

/* @return whether a daemon started a process since then that it does not let
 * us look at: it may be ours. */
static bool may_be_hidden(const adm_segment_t *segment, const char *token,
                          adm_usec_t since)
{
    bool may_be = false;
    unsigned n;

    for (n = 0; n < ADM_SPAWNERS && !may_be; n++) {
        adm_spawner_rec_t *spawner = &segment->header->spawners[n];
        pid_t pid = atomic_load(&spawner->pid), program;

        may_be = pid != 0 && atomic_load(&spawner->last_fork) >= since
                 && !adm_proc_has_ended(pid)
                 && adm_proc_look_at_children(pid, token, &program)
                        > ADM_SIGHT_OTHER;
    }
    return may_be;
}

bool adm_program_exists(const adm_segment_t *segment,
                        const adm_orphan_t *orphan)
{
    char token[ADM_TOKEN_LENGTH];

    /* A known pid is enough: a program may overwrite its environment, and a
     * pid that is used again only keeps the permit until its time is up. */
    if (orphan->pid != 0 && !adm_proc_has_ended(orphan->pid)) {
        return true;
    }
    if (orphan->pid != 0 && orphan->programs == 1) {
        return false;
    }
    write_token(segment, orphan->zone_idx, orphan->ticket_idx, orphan->arrival,
                token);
    return may_be_hidden(segment, token, orphan->since)
           || adm_proc_is_anywhere(token);
}
