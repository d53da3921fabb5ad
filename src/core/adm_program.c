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
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adm_layout.h"

/* ---- at each fork -------------------------------------------------------------- */

static adm_segment_t *watched;

/* Whether this process was forked by the one that set up the watch. */
static bool is_first_fork;

/* Whose program the calling thread is about to start. */
static _Thread_local adm_ticket_rec_t *announced;

static void after_fork_in_parent(void)
{
    announced = NULL;
}

/* Remember the daemon that started this process. Async-signal-safe. */
static void note_spawner(pid_t pid)
{
    atomic_int *spawners = watched->header->spawners;
    unsigned n;

    for (n = 0; n < ADM_SPAWNERS; n++) {
        if (atomic_load(&spawners[n]) == pid) {
            return;
        }
    }
    for (n = ADM_SPAWNERS - 1; n > 0; n--) {
        atomic_store(&spawners[n], atomic_load(&spawners[n - 1]));
    }
    atomic_store(&spawners[0], pid);
}

/* Between fork and exec: only async-signal-safe calls. */
static void after_fork_in_program(void)
{
    sigset_t none;

    atomic_store(&announced->program_pid, getpid());
    announced = NULL;
    /* Threads of worker and event block most signals, and a program would
     * inherit that: httpd's SIGTERM could not end it. */
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
}

static void after_fork_in_child(void)
{
    bool was_first_fork = is_first_fork;
    bool was_registered = adm_child_is_registered_here();

    is_first_fork = true;
    adm_child_forget_self();
    if (announced) {
        after_fork_in_program();
    }
    else if (was_first_fork && !was_registered) {
        note_spawner(getppid());
    }
}

apr_status_t adm_program_watch_forks(adm_segment_t *segment)
{
    bool is_watching = watched != NULL;

    watched = segment;
    return is_watching ? APR_SUCCESS
                       : pthread_atfork(NULL, after_fork_in_parent,
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
        atomic_fetch_add(&announced->programs, 1);
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
    SIGHT_GONE,    /* no such process, or only its zombie */
    SIGHT_OTHER,   /* a process without our token */
    SIGHT_OURS,
    SIGHT_UNKNOWN  /* a process that does not show its environment */
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

static bool is_zombie(pid_t pid)
{
    char path[64], stat[512];
    const char *state;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    if (read_proc(path, stat, sizeof(stat)) <= 0) {
        return true;
    }
    /* "pid (name) S ...", and a name may contain anything. */
    state = strrchr(stat, ')');
    return state && state[1] == ' ' && (state[2] == 'Z' || state[2] == 'X');
}

/* As large as an environment that httpd makes can sensibly be; where it is
 * larger and the token not in this much, the answer is SIGHT_UNKNOWN. */
#define ENVIRONMENT_ROOM (128 * 1024)

static sight_t look_at(pid_t pid, const char *token)
{
    char path[64];
    char *text = malloc(ENVIRONMENT_ROOM);
    ssize_t length;
    sight_t sight;

    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    length = text ? read_proc(path, text, ENVIRONMENT_ROOM) : -1;
    if (length > 0) {
        sight = memmem(text, (size_t)length, token, strlen(token) + 1)
                    ? SIGHT_OURS
                : length < ENVIRONMENT_ROOM - 1 ? SIGHT_OTHER
                                                : SIGHT_UNKNOWN;
    }
    else {
        sight = is_zombie(pid) ? SIGHT_GONE : SIGHT_UNKNOWN;
    }
    free(text);
    return sight;
}

/* What the best of a daemon's children is to us; SIGHT_UNKNOWN also when the
 * kernel does not list them. */
static sight_t look_at_children_of(pid_t spawner, const char *token)
{
    char path[96];
    char list[4096];
    char *next = list;
    sight_t best = SIGHT_GONE;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)spawner,
             (int)spawner);
    if (read_proc(path, list, sizeof(list)) < 0) {
        return is_zombie(spawner) ? SIGHT_GONE : SIGHT_UNKNOWN;
    }
    if (strlen(list) == sizeof(list) - 1) {
        return SIGHT_UNKNOWN; /* more of them than can be looked at */
    }
    while (best != SIGHT_OURS) {
        char *end;
        long pid = strtol(next, &end, 10);
        sight_t sight;

        if (end == next) {
            break;
        }
        sight = look_at((pid_t)pid, token);
        if (sight > SIGHT_OTHER && best != SIGHT_OURS) {
            best = sight;
        }
        next = end;
    }
    return best;
}

/* Over all daemons that ever started a program, and are still there. */
static sight_t look_at_spawned(const adm_segment_t *segment, const char *token)
{
    sight_t best = SIGHT_GONE;
    bool has_spawner = false;
    unsigned n;

    for (n = 0; n < ADM_SPAWNERS && best != SIGHT_OURS; n++) {
        pid_t spawner = atomic_load(&segment->header->spawners[n]);
        sight_t sight;

        if (spawner == 0) {
            continue;
        }
        has_spawner = true;
        sight = look_at_children_of(spawner, token);
        if (sight > best) {
            best = sight;
        }
    }
    return has_spawner ? best : SIGHT_UNKNOWN;
}

/* A child of this very process, neither reaped nor missed by the look. */
static bool own_child_has_ended(pid_t pid)
{
    siginfo_t info = { 0 };
    int rv = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);

    return rv == 0 ? info.si_pid == pid : errno == ECHILD;
}

bool adm_program_has_ended(const adm_ticket_t *ticket)
{
    adm_ticket_rec_t *rec = rec_of(ticket);
    unsigned programs = atomic_load(&rec->programs);
    pid_t pid = atomic_load(&rec->program_pid);
    char token[ADM_TOKEN_LENGTH];

    if (programs != 1) {
        return programs == 0; /* only the last one's pid is known */
    }
    if (pid != 0) {
        return own_child_has_ended(pid);
    }
    adm_program_token(ticket, token);
    return look_at_spawned(ticket->child->segment, token) == SIGHT_GONE;
}

/* ---- programs of dead children ------------------------------------------------------ */

static bool is_anywhere(const char *token)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    bool is_found = false;

    if (!proc) {
        return true; /* nothing can be known: keep the permit */
    }
    while (!is_found && (entry = readdir(proc)) != NULL) {
        pid_t pid = (pid_t)atoi(entry->d_name);

        is_found = pid > 0 && look_at(pid, token) == SIGHT_OURS;
    }
    closedir(proc);
    return is_found;
}

bool adm_program_exists(const adm_segment_t *segment, uint32_t zone_idx,
                        uint32_t ticket_idx, uint64_t arrival, pid_t pid)
{
    char token[ADM_TOKEN_LENGTH];
    sight_t sight;

    write_token(segment, zone_idx, ticket_idx, arrival, token);
    if (pid != 0) {
        sight = look_at(pid, token);
        return sight == SIGHT_OURS || sight == SIGHT_UNKNOWN;
    }
    return look_at_spawned(segment, token) == SIGHT_OURS || is_anywhere(token);
}
