/* adm_proc.c - what the system reports about a process.
 * Called by adm_child and adm_program. Makes system calls; independent of the
 * segment.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "adm/base.h"
#include "adm_proc.h"

/* Read a file of /proc/PID. @return its length; -1 with errno. */
static ssize_t read_proc(const char *root, pid_t pid, const char *name,
                         char *text, size_t size)
{
    char path[128];
    size_t length = 0;
    ssize_t got;
    int fd;

    snprintf(path, sizeof(path), "%s/proc/%d/%s", root, (int)pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    do {
        got = read(fd, text + length, size - 1 - length);
        length += got > 0 ? (size_t)got : 0;
    } while ((got > 0 && length < size - 1) || (got < 0 && errno == EINTR));
    close(fd);
    text[length] = '\0';
    return got < 0 ? -1 : (ssize_t)length;
}

/* Numbers of fields in /proc/PID/stat, as in proc(5). */
#define FIELD_OF_STATE 3
#define FIELD_OF_MAJFLT 12
#define FIELD_OF_UTIME 14
#define FIELD_OF_STIME 15
#define FIELD_OF_THREADS 20
#define FIELD_OF_START 22
#define FIELD_OF_RSS 24

/* Read /proc/PID/stat. @return its fields from the state on; NULL if the
 * process is hidden or gone. */
static const char *read_stat(const char *root, pid_t pid, char *stat,
                             size_t size)
{
    const char *name_end;

    if (pid <= 0 || read_proc(root, pid, "stat", stat, size) <= 0) {
        return NULL;
    }
    /* "pid (name) S ...": the name can contain any character. */
    name_end = strrchr(stat, ')');
    return name_end && name_end[1] == ' ' ? name_end + 2 : NULL;
}

/* @return the number in a field; @a fields start with the state. 0: missing. */
static unsigned long long field_in(const char *fields, int wanted)
{
    int number;

    for (number = FIELD_OF_STATE; fields && number < wanted; number++) {
        fields = strchr(fields, ' ');
        fields = fields ? fields + 1 : NULL;
    }
    return fields ? strtoull(fields, NULL, 10) : 0;
}

static adm_usec_t time_of(unsigned long long ticks)
{
    return (adm_usec_t)(ticks * (unsigned long long)ADM_USEC_PER_SEC
                        / (unsigned long long)sysconf(_SC_CLK_TCK));
}

/* A process whose first thread has exited looks like a zombie while its other
 * threads run. */
static bool is_zombie(const char *fields)
{
    return *fields == 'Z' && field_in(fields, FIELD_OF_THREADS) <= 1;
}

/* Whether the process that existed at @a seen has ended: the PID has a zombie
 * now, or a process that started later and so has reused the PID. */
static bool shows_end(const char *fields, adm_usec_t seen)
{
    return is_zombie(fields) || *fields == 'X'
           || time_of(field_in(fields, FIELD_OF_START)) > seen;
}

/* What poll() on a pidfd reports. Works for other users' processes, and for
 * zombies that /proc hides. */
typedef enum end_t { END_UNKNOWN, END_TO_COME, END_REACHED } end_t;

static end_t await_end(pid_t pid, int msec)
{
#ifdef SYS_pidfd_open
    struct pollfd process = { .events = POLLIN };
    int ready;

    process.fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (process.fd >= 0) {
        ready = poll(&process, 1, msec);
        close(process.fd);
        return ready == 1 ? END_REACHED : END_TO_COME;
    }
    if (errno == ESRCH) {
        return END_REACHED;
    }
#else
    (void)pid;
    (void)msec;
#endif
    return END_UNKNOWN; /* a kernel before 5.3, or not permitted */
}

bool adm_proc_is_gone(pid_t pid)
{
    return kill(pid, 0) != 0 && errno == ESRCH;
}

bool adm_proc_has_ended(pid_t pid, adm_usec_t seen)
{
    char stat[1024];
    const char *fields;

    if (pid <= 0 || adm_proc_is_gone(pid)) {
        return true;
    }
    fields = read_stat("", pid, stat, sizeof(stat));
    return fields ? shows_end(fields, seen) : await_end(pid, 0) == END_REACHED;
}

/* Time for a program to exit after it has closed its outputs. If it is seen to
 * end, its permit is released before the whole response has been sent. */
#define LAST_MOMENT_MSEC 5

/* Wait for LAST_MOMENT_MSEC at most. @return whether the process has ended. */
static bool wait_for_end(pid_t pid)
{
    end_t end = await_end(pid, LAST_MOMENT_MSEC);

    for (int msec = 0; msec < LAST_MOMENT_MSEC && end == END_UNKNOWN; msec++) {
        if (adm_proc_has_ended(pid, adm_clock_since_boot())) {
            end = END_REACHED;
        }
        else {
            poll(NULL, 0, 1);
        }
    }
    return end == END_REACHED;
}

bool adm_proc_ends_now(pid_t pid, adm_usec_t seen)
{
    return pid <= 0 || wait_for_end(pid) || adm_proc_has_ended(pid, seen);
}

/* ---- what it used -------------------------------------------------------- */

static uint64_t usec_of(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * ADM_USEC_PER_SEC + (uint64_t)time->tv_usec;
}

/* The system call has one more argument than the library's waitid(): the
 * usage. */
bool adm_proc_final_usage(pid_t pid, adm_proc_usage_t *usage)
{
    siginfo_t info = { .si_pid = 0 };
    struct rusage took;

    if (pid <= 0
        || syscall(SYS_waitid, P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT,
                   &took)
               != 0
        || info.si_pid != pid) {
        return false;
    }
    usage->size_kb = 0;
    usage->peak_kb = (uint64_t)took.ru_maxrss;
    usage->processor_usec = usec_of(&took.ru_utime) + usec_of(&took.ru_stime);
    usage->faults = (uint64_t)took.ru_majflt;
    return true;
}

/* @return the largest resident set so far, in KiB; 0: unknown. */
static uint64_t peak_of(const char *root, pid_t pid)
{
    static const char key[] = "\nVmHWM:";
    char status[4096];
    const char *line;

    if (read_proc(root, pid, "status", status, sizeof(status)) <= 0) {
        return 0;
    }
    line = strstr(status, key);
    return line ? strtoull(line + sizeof(key) - 1, NULL, 10) : 0;
}

bool adm_proc_current_usage(const char *root, pid_t pid, adm_usec_t seen,
                            adm_proc_usage_t *usage)
{
    char stat[1024];
    const char *fields = read_stat(root, pid, stat, sizeof(stat));

    if (!fields || shows_end(fields, seen)) {
        return false;
    }
    usage->size_kb = field_in(fields, FIELD_OF_RSS)
                     * (unsigned long long)sysconf(_SC_PAGESIZE) / 1024;
    usage->processor_usec = (uint64_t)time_of(
        field_in(fields, FIELD_OF_UTIME) + field_in(fields, FIELD_OF_STIME));
    usage->faults = field_in(fields, FIELD_OF_MAJFLT);
    usage->peak_kb = peak_of(root, pid);
    return usage->peak_kb > 0;
}
