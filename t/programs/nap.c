/* nap.c - delays the listener of the event MPM, or a worker, at one point: LD_PRELOAD.
 *
 * NAP_DIR (environment) is a directory. When it has a file "nap", the listener
 * sleeps for half a second, once, when it has handed as many connections to its
 * workers as that file has bytes, and just looks whether it accepts others; and
 * makes the file "napped". When it has a file "begin", the next worker that takes a
 * new connection sleeps for a second before it counts it. While it has a file "yawn",
 * each worker that is called sleeps for a second before it looks for what, and adds a
 * byte to the file "yawned". Of what they call only APR's functions can be replaced.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

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
    const char *dir = getenv("NAP_DIR");
    struct stat status;
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s", dir ? dir : "", name);
    return dir && stat(path, &status) == 0 ? (long)status.st_size : -1;
}

static void leave_note(const char *name, const char *mode)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", getenv("NAP_DIR"), name);
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

/* For a second, if there is a file of this name. */
static void nap_once(const char *name)
{
    char path[4096];

    if (size_of(name) >= 0) {
        snprintf(path, sizeof(path), "%s/%s", getenv("NAP_DIR"), name);
        remove(path);
        leave_note("napped", "w");
        nap(1000);
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
