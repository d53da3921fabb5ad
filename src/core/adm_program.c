/* adm_program.c - the programs that requests start, and whether they live.
 *
 * mod_cgi forks in the child: the new process writes its pid into the ticket
 * before it becomes the program. mod_cgid forks in a daemon that knows nothing
 * of tickets: its programs are found among the daemon's children by the token
 * in their environment.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adm_layout.h"

/* ---- at each fork -------------------------------------------------------------- */

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

/* Between fork and exec: only async-signal-safe calls. */
static void after_fork_in_program(void)
{
    sigset_t none;

    note_program();
    announced = NULL;
    /* Threads of worker and event block most signals, and a program would
     * inherit that: httpd's SIGTERM could not end it. */
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
}

/* A daemon is noted before it starts anything: however soon it dies, it is known
 * as the one that may have started something. */
static void before_fork(void)
{
    /* The first look at `announced` may allocate it, which the new process could
     * not. */
    if (!announced && is_descendant && !adm_child_is_registered_here()) {
        note_spawner(getpid());
    }
}

static void after_fork_in_parent(void)
{
    announced = NULL;
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

/* ---- announce -------------------------------------------------------------------- */

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

/* ---- look ------------------------------------------------------------------------- */

typedef enum sight_t {
    SIGHT_GONE,  /* no such process, or only its zombie */
    SIGHT_OTHER, /* a process without our token */
    SIGHT_OURS,
    SIGHT_UNKNOWN /* a process that does not show its environment */
} sight_t;

/* Read a whole file of /proc. @return its length, or -1 with errno. */
static ssize_t read_proc(const char *path, char *text, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    ssize_t got;

    if (fd < 0) {
        return -1;
    }
    do {
        got = read(fd, text + length, room - 1 - length);
        length += got > 0 ? (size_t)got : 0;
    } while ((got > 0 && length < room - 1) || (got < 0 && errno == EINTR));
    close(fd);
    text[length] = '\0';
    return got < 0 ? -1 : (ssize_t)length;
}

/* @return whether the process has ended: reaped, or its zombie is left. What
 * cannot be seen has not. */
static bool has_ended(pid_t pid)
{
    char path[64], stat[512];
    const char *state;

    if (kill(pid, 0) != 0 && errno == ESRCH) {
        return true;
    }
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    if (read_proc(path, stat, sizeof(stat)) <= 0) {
        return false;
    }
    /* "pid (name) S ...", and a name may contain anything. */
    state = strrchr(stat, ')');
    return state && state[1] == ' ' && (state[2] == 'Z' || state[2] == 'X');
}

/* Whether what is read contains the token, with the zero at its end. In pieces
 * on the stack: this may run in a signal handler that interrupted malloc(). */
static sight_t search(int fd, const char *token)
{
    char piece[4096];
    size_t length = strlen(token) + 1;
    size_t kept = 0; /* may be the beginning of the token */
    bool is_empty = true;
    ssize_t got;

    while ((got = read(fd, piece + kept, sizeof(piece) - kept)) > 0
           || (got < 0 && errno == EINTR)) {
        size_t filled = kept + (size_t)(got > 0 ? got : 0);

        if (memmem(piece, filled, token, length)) {
            return SIGHT_OURS;
        }
        kept = filled < length - 1 ? filled : length - 1;
        memmove(piece, piece + filled - kept, kept);
        is_empty = is_empty && filled == 0;
    }
    return got < 0 || is_empty ? SIGHT_UNKNOWN : SIGHT_OTHER;
}

static sight_t look_at(pid_t pid, const char *token)
{
    char path[64];
    sight_t sight = SIGHT_UNKNOWN;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        sight = search(fd, token);
        close(fd);
    }
    return sight == SIGHT_UNKNOWN && has_ended(pid) ? SIGHT_GONE : sight;
}

/* What the best of a daemon's children is to us; SIGHT_UNKNOWN also when the
 * kernel does not list them, or the daemon is gone: they live on elsewhere. */
static sight_t look_at_children_of(pid_t spawner, const char *token,
                                   pid_t *program)
{
    char path[96];
    char list[4096];
    char *next = list;
    sight_t best = SIGHT_GONE;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)spawner,
             (int)spawner);
    /* Until a dead daemon is buried its list can be read, and is empty. */
    if (read_proc(path, list, sizeof(list)) < 0
        || strlen(list) == sizeof(list) - 1 || has_ended(spawner)) {
        return SIGHT_UNKNOWN;
    }
    while (best != SIGHT_OURS) {
        char *end;
        pid_t pid = (pid_t)strtol(next, &end, 10);
        sight_t sight;

        if (end == next) {
            break;
        }
        sight = look_at(pid, token);
        if (sight == SIGHT_OURS || sight == SIGHT_UNKNOWN) {
            best = sight;
            *program = pid;
        }
        next = end;
    }
    return best;
}

/* Only a daemon that started something since our request began can have
 * started its program. */
static sight_t look_at_spawned(const adm_segment_t *segment, const char *token,
                               adm_usec_t since, pid_t *program)
{
    sight_t best = is_spawner_forgotten(segment, since) ? SIGHT_UNKNOWN
                                                        : SIGHT_GONE;
    bool has_spawner = false;
    unsigned n;

    for (n = 0; n < ADM_SPAWNERS && best != SIGHT_OURS; n++) {
        adm_spawner_rec_t *spawner = &segment->header->spawners[n];
        pid_t pid = atomic_load(&spawner->pid);
        sight_t sight;

        if (pid == 0 || atomic_load(&spawner->last_fork) < since) {
            continue;
        }
        has_spawner = true;
        sight = look_at_children_of(pid, token, program);
        if (sight > best) {
            best = sight;
        }
    }
    return has_spawner ? best : SIGHT_UNKNOWN;
}

/* A program that has closed its outputs is about to end: give it a moment,
 * rather than keep the permit until the answer has been sent. */
#define LAST_MOMENT_MSEC 5

static bool ends_now(pid_t pid)
{
    bool is_over = false;
#ifdef SYS_pidfd_open
    struct pollfd end = { .events = POLLIN };

    end.fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (end.fd < 0) {
        return errno == ESRCH;
    }
    is_over = poll(&end, 1, LAST_MOMENT_MSEC) == 1;
    close(end.fd);
#else
    (void)pid;
#endif
    return is_over;
}

/* A child of this very process, not reaped before its request is. */
static bool own_child_has_ended(pid_t pid)
{
    siginfo_t info = { 0 };
    /* Whichever thread started it: another one may end the request. */
    int rv = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);

    return rv == 0 ? info.si_pid == pid || ends_now(pid) : errno == ECHILD;
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
        sight_t sight = look_at_spawned(ticket->child->segment, token, since,
                                        &pid);

        if (sight == SIGHT_GONE) {
            return true;
        }
        if (pid == 0 || !ends_now(pid)) {
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
    return pid != 0 ? own_child_has_ended(pid)
                    : daemons_child_has_ended(ticket);
}

static bool is_anywhere(const char *token)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    bool is_found = false;

    if (!proc) {
        return true; /* nothing can be known: keep the permit */
    }
    while (!is_found && (entry = readdir(proc)) != NULL) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

        is_found = pid > 0 && look_at(pid, token) == SIGHT_OURS;
    }
    closedir(proc);
    return is_found;
}

/* Also one whose daemon died after it started the program. */
static bool daemons_child_outlives(const adm_ticket_t *ticket)
{
    const adm_segment_t *segment = ticket->child->segment;
    adm_spawner_rec_t *spawners = segment->header->spawners;
    adm_usec_t since = rec_of(ticket)->since_usec;
    char token[ADM_TOKEN_LENGTH];
    bool outlives;
    unsigned n;

    adm_program_token(ticket, token);
    outlives = is_spawner_forgotten(segment, since) && is_anywhere(token);
    for (n = 0; n < ADM_SPAWNERS && !outlives; n++) {
        pid_t pid = atomic_load(&spawners[n].pid), program;

        outlives = pid != 0 && atomic_load(&spawners[n].last_fork) >= since
                   && (look_at_children_of(pid, token, &program) == SIGHT_OURS
                       || has_ended(pid));
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
    return pid != 0 ? !has_ended(pid) : daemons_child_outlives(ticket);
}

/* ---- programs of dead children ------------------------------------------------------ */

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
                 && !has_ended(pid)
                 && look_at_children_of(pid, token, &program) >= SIGHT_OURS;
    }
    return may_be;
}

bool adm_program_exists(const adm_segment_t *segment,
                        const adm_orphan_t *orphan)
{
    char token[ADM_TOKEN_LENGTH];

    /* A known pid is enough: a program may overwrite its environment, and a
     * pid that is used again only keeps the permit until its time is up. */
    if (orphan->pid != 0 && !has_ended(orphan->pid)) {
        return true;
    }
    if (orphan->pid != 0 && orphan->programs == 1) {
        return false;
    }
    write_token(segment, orphan->zone_idx, orphan->ticket_idx, orphan->arrival,
                token);
    return may_be_hidden(segment, token, orphan->since) || is_anywhere(token);
}
