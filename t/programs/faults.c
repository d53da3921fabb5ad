/* faults.c - delays the listener of the event MPM, or a worker, at one point, has an
 * epoll_ctl() that fails, and a clock that jumps: LD_PRELOAD, into httpd or Redis.
 *
 * FAULTS_DIR (environment) is a directory. A file in it is a fault:
 *
 *   nap     the listener sleeps for half a second, once, when it has handed as many
 *           connections to its workers as that file has bytes, and just looks whether it
 *           accepts others; makes the file "napped"
 *   doze    the listener makes "napped", once, before it looks at its sockets, and sleeps
 *           until that is removed
 *   begin   the next worker that takes a new connection does so before it counts it
 *   yawn    while it is there, each worker that is called sleeps for a second before it
 *           looks for what, and adds a byte to the file "yawned"
 *   epoll   while it is there, nothing that is to be writable can be added to a set of this
 *           module, as when there are too many watches; "epoll_failed" gets a byte each time
 *   named   while it is there, no file without a name can be created, as on NFS;
 *           "unnamed_failed" gets a byte each time
 *   clock   what is taken for the time is moved by as many seconds as it says
 *
 * Of what httpd calls only APR's functions can be replaced.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Have the function that this one replaces, as next(). */
#define NEXT(name)                                         \
    static __typeof__(&name) next;                         \
    if (!next) {                                           \
        next = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
    }

typedef int mutex_t(void *mutex);

static __thread int is_about_to_nap; /* in the listener's thread */
static __thread int is_listener;

/* Bytes; -1: there is none. */
static long size_of(const char *name)
{
    const char *dir = getenv("FAULTS_DIR");
    struct stat status;
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s", dir ? dir : "", name);
    return dir && stat(path, &status) == 0 ? (long)status.st_size : -1;
}

static void leave_note(const char *name, const char *mode)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", getenv("FAULTS_DIR"), name);
    file = fopen(path, mode);
    if (file) {
        fputc('.', file);
        fclose(file);
    }
}

static void nap(long ms)
{
    struct timespec left = { ms / 1000, ms % 1000 * 1000000L };

    /* The MPM wakes its listener by a signal, too. */
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

/* Until the test goes on, if there is a file of this name. */
static void nap_once(const char *name)
{
    char path[4096];

    if (size_of(name) >= 0) {
        snprintf(path, sizeof(path), "%s/%s", getenv("FAULTS_DIR"), name);
        remove(path);
        leave_note("napped", "w");
        while (size_of("napped") >= 0) {
            nap(10);
        }
    }
}

/* The first thing that is made for a new connection. */
void *apr_bucket_alloc_create(void *pool)
{
    NEXT(apr_bucket_alloc_create);
    nap_once("begin");
    return next(pool);
}

/* Without the mutex, so that more is put into the queue. */
int apr_thread_cond_wait(void *condition, void *mutex)
{
    int rv;

    NEXT(apr_thread_cond_wait);
    rv = next(condition, mutex);
    if (!is_listener && size_of("yawn") >= 0) {
        ((mutex_t *)dlsym(RTLD_NEXT, "apr_thread_mutex_unlock"))(mutex);
        leave_note("yawned", "a");
        nap(1000);
        ((mutex_t *)dlsym(RTLD_NEXT, "apr_thread_mutex_lock"))(mutex);
    }
    return rv;
}

/* A connection is to be handed to a worker. */
int apr_pollset_remove(void *pollset, const void *descriptor)
{
    static long removed;
    long after = size_of("nap");

    NEXT(apr_pollset_remove);
    if (after >= 0 && ++removed == after) {
        is_about_to_nap = 1;
    }
    return next(pollset, descriptor);
}

int open(const char *path, int flags, ...)
{
    va_list more;
    int mode;

    NEXT(open);
    va_start(more, flags);
    mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;
    va_end(more);
    if ((flags & O_TMPFILE) == O_TMPFILE && size_of("named") >= 0) {
        leave_note("unnamed_failed", "a");
        errno = EOPNOTSUPP;
        return -1;
    }
    return next(path, flags, mode);
}

/* Whether connections are accepted is the first number that is read then. */
unsigned apr_atomic_read32(volatile unsigned *number)
{
    NEXT(apr_atomic_read32);
    if (is_about_to_nap) {
        is_about_to_nap = 0;
        leave_note("napped", "w");
        nap(500);
    }
    return next(number);
}

/* It is about to look at its sockets. */
int apr_pollset_poll(void *pollset, long long timeout_usec, int *count, const void **descriptors)
{
    NEXT(apr_pollset_poll);
    is_listener = 1;
    nap_once("doze");
    return next(pollset, timeout_usec, count, descriptors);
}

/* APR stores a pointer with each descriptor, the module nothing. */
int epoll_ctl(int set, int operation, int descriptor, struct epoll_event *event)
{
    if (operation == EPOLL_CTL_ADD && event->data.u64 == 0 && (event->events & EPOLLOUT)
        && size_of("epoll") >= 0) {
        leave_note("epoll_failed", "a");
        errno = ENOSPC;
        return -1;
    }
    return (int)syscall(SYS_epoll_ctl, set, operation, descriptor, event);
}

static long offset(void)
{
    long seconds = 0;
    char path[4096];
    FILE *file;

    if (size_of("clock") < 0) {
        return 0;
    }
    snprintf(path, sizeof(path), "%s/clock", getenv("FAULTS_DIR"));
    file = fopen(path, "re");
    if (file) {
        if (fscanf(file, "%ld", &seconds) != 1) {
            seconds = 0;
        }
        fclose(file);
    }
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int rv = (int)syscall(SYS_clock_gettime, clock, now);

    if (rv == 0 && clock == CLOCK_REALTIME) {
        now->tv_sec += offset();
    }
    return rv;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec precise;
    int rv = clock_gettime(CLOCK_REALTIME, &precise);

    (void)zone;
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return rv;
}
