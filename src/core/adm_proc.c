/* adm_proc.c - what the system says of a process.
 * Called by adm_program. Makes system calls; knows nothing of the segment.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adm_proc.h"

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

/* ---- whether it lives ----------------------------------------------------- */

/* @return whether the process has ended: reaped, or its zombie is left. What
 * cannot be seen has not. */
bool adm_proc_has_ended(pid_t pid)
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

/* A program that has closed its outputs is about to end: give it a moment,
 * rather than keep the permit until the answer has been sent. */
#define LAST_MOMENT_MSEC 5

bool adm_proc_ends_now(pid_t pid)
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
bool adm_proc_own_child_has_ended(pid_t pid)
{
    siginfo_t info = { 0 };
    /* Whichever thread started it: another one may end the request. */
    int rv = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);

    return rv == 0 ? info.si_pid == pid || adm_proc_ends_now(pid)
                   : errno == ECHILD;
}

/* ---- before exec ---------------------------------------------------------- */

/* A new process has its parent's name, and gets its own from exec; a name is
 * shown also of a process that shows nothing else. */
#define NAME_LENGTH 16
#define NAME_BEFORE_EXEC "adm:before-exec"

static char own_name[NAME_LENGTH];

void adm_proc_mark_fork(void)
{
    if (prctl(PR_GET_NAME, own_name) == 0) {
        prctl(PR_SET_NAME, NAME_BEFORE_EXEC);
    }
}

void adm_proc_unmark_fork(void)
{
    if (own_name[0] != '\0') {
        prctl(PR_SET_NAME, own_name);
        own_name[0] = '\0';
    }
}

/* Anybody may bear that name, but not in this process's group. */
static bool is_before_exec(pid_t pid)
{
    char path[64], name[NAME_LENGTH + 1];

    snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
    return read_proc(path, name, sizeof(name)) > 0
           && strcmp(name, NAME_BEFORE_EXEC "\n") == 0
           && getpgid(pid) == getpgrp();
}

/* From /proc/PID/stat, as ps does: the kernel's PF_EXITING and PF_KTHREAD. */
#define ENDS_OR_IS_KERNELS (0x4UL | 0x200000UL)
#define FIELDS_BEFORE_FLAGS 6

/* Between its new name and its new environment a process has none at all. So
 * have one that ends, and the kernel's own. */
static bool is_in_exec(pid_t pid)
{
    char path[64], stat[512];
    char *next;
    int n;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    if (read_proc(path, stat, sizeof(stat)) <= 0
        || !(next = strrchr(stat, ')'))) {
        return false;
    }
    for (n = 0; n <= FIELDS_BEFORE_FLAGS && next; n++) {
        next = strchr(next + 1, ' ');
    }
    return next && !(strtoul(next, NULL, 10) & ENDS_OR_IS_KERNELS);
}

/* ---- whose it is ---------------------------------------------------------- */

/* Whether what is read contains the token, with the zero at its end. In pieces
 * on the stack: this may run in a signal handler that interrupted malloc(). */
static adm_sight_t search(int fd, const char *token)
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
            return ADM_SIGHT_OURS;
        }
        kept = filled < length - 1 ? filled : length - 1;
        memmove(piece, piece + filled - kept, kept);
        is_empty = is_empty && filled == 0;
    }
    return got < 0    ? ADM_SIGHT_UNKNOWN
           : is_empty ? ADM_SIGHT_STARTING
                      : ADM_SIGHT_OTHER;
}

static adm_sight_t look_at_environment(pid_t pid, const char *token)
{
    char path[64];
    adm_sight_t sight = ADM_SIGHT_UNKNOWN;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        sight = search(fd, token);
        close(fd);
    }
    if (sight == ADM_SIGHT_STARTING && !is_in_exec(pid)) {
        sight = ADM_SIGHT_UNKNOWN;
    }
    return sight == ADM_SIGHT_UNKNOWN && adm_proc_has_ended(pid)
               ? ADM_SIGHT_GONE
               : sight;
}

/* The name first: exec gives it before the environment. */
static adm_sight_t look_at(pid_t pid, const char *token)
{
    return is_before_exec(pid) ? ADM_SIGHT_STARTING
                               : look_at_environment(pid, token);
}

#define LIST_LENGTH 4096
#define LISTINGS 8

static bool list_children(pid_t parent, char list[LIST_LENGTH])
{
    char path[96];
    ssize_t length;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent,
             (int)parent);
    length = read_proc(path, list, LIST_LENGTH);
    return length >= 0 && length < LIST_LENGTH - 1;
}

/* The kernel skips a child when one that it has just listed ends: the list is
 * complete only when another one says the same. */
static bool list_all_children(pid_t parent, char list[LIST_LENGTH])
{
    char before[LIST_LENGTH];
    bool is_complete = false;
    int n;

    if (!list_children(parent, list)) {
        return false;
    }
    for (n = 1; n < LISTINGS && !is_complete; n++) {
        memcpy(before, list, LIST_LENGTH);
        if (!list_children(parent, list)) {
            return false;
        }
        is_complete = strcmp(before, list) == 0;
    }
    return is_complete;
}

/* What the best of a daemon's children is to us; ADM_SIGHT_UNKNOWN also when the
 * kernel does not list them, or the daemon is gone: they live on elsewhere. */
adm_sight_t adm_proc_look_at_children(pid_t spawner, const char *token,
                                      pid_t *program)
{
    char list[LIST_LENGTH];
    char *next = list;
    adm_sight_t best = ADM_SIGHT_GONE;

    /* Until a dead daemon is buried its list can be read, and is empty. */
    if (!list_all_children(spawner, list) || adm_proc_has_ended(spawner)) {
        return ADM_SIGHT_UNKNOWN;
    }
    while (best != ADM_SIGHT_OURS) {
        char *end;
        pid_t pid = (pid_t)strtol(next, &end, 10);
        adm_sight_t sight;

        if (end == next) {
            break;
        }
        sight = look_at(pid, token);
        if (sight > ADM_SIGHT_OTHER && sight > best) {
            best = sight;
            *program = pid;
        }
        next = end;
    }
    return best;
}

bool adm_proc_is_anywhere(const char *token)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    bool is_found = false;

    if (!proc) {
        return true; /* nothing can be known: keep the permit */
    }
    while (!is_found && (entry = readdir(proc)) != NULL) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

        is_found = pid > 0
                   && (is_before_exec(pid)
                       || look_at_environment(pid, token) == ADM_SIGHT_OURS);
    }
    closedir(proc);
    return is_found;
}
