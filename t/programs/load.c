/* load.c - the CGI program of the experiments: it loads the machine as it is
 * told, says OK, and ends.
 *
 * Told by QUERY_STRING, for example "mb=200&lock=1":
 *   mb=N       allocate N MB and clear them
 *   cpu=N      keep the processor busy for N milliseconds of its time
 *   lock=1     first wait for a lock that all copies share
 *   wait=N     ask a backend that takes N milliseconds
 *   nap=N      do nothing for a random time, N milliseconds in the mean
 *   slots=N    which answers so many at once (default: all)
 * Without any it is a trivial program.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

static long number(const char *name)
{
    const char *query = getenv("QUERY_STRING");
    const char *at = query ? strstr(query, name) : NULL;

    return at ? atol(at + strlen(name)) : 0;
}

/* On the program's own file: it is there, and nobody else locks it. */
static int take_lock(const char *path)
{
    int fd = open(path, O_RDONLY);

    return fd < 0 ? -1 : flock(fd, LOCK_EX);
}

/* What was written is read again, or the compiler may leave it out. */
static int fill(size_t bytes)
{
    volatile char *memory = malloc(bytes);

    if (!memory) {
        return -1;
    }
    memset((void *)memory, 1, bytes);
    return memory[bytes / 2] == 1 ? 0 : -1;
}

static void keep_busy(long ms)
{
    struct timespec used;
    volatile unsigned long i;

    do {
        /* A look at the clock is a system call: not the work itself. */
        for (i = 0; i < 100000; i++) {
        }
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    } while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < ms);
}

static void sleep_ms(long ms)
{
    struct timespec nap = { .tv_sec = ms / 1000,
                            .tv_nsec = ms % 1000 * 1000000 };

    nanosleep(&nap, NULL);
}

/* Many short ones and a few long ones, as programs take. */
static long random_ms(long mean)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    srand48(now.tv_nsec ^ getpid());
    return (long)(-(double)mean * log(1 - drand48()));
}

/* A byte of a file stands for a place at the backend. */
static int take_place(int fd, long slots)
{
    struct flock place = { .l_type = F_WRLCK, .l_len = 1 };

    for (place.l_start = 0; place.l_start < slots; place.l_start++) {
        if (fcntl(fd, F_SETLK, &place) == 0) {
            return 1;
        }
    }
    return 0;
}

static int ask_backend(const char *path, long ms, long slots)
{
    int fd = slots > 0 ? open(path, O_RDWR | O_CREAT, 0666) : -1;

    if (slots > 0 && fd < 0) {
        return -1;
    }
    while (slots > 0 && !take_place(fd, slots)) {
        sleep_ms(2);
    }
    sleep_ms(ms);
    return 0;
}

int main(int argc, char **argv)
{
    const char *folder = getenv("HEAVY_DIR");
    char backend[4096];
    long mb = number("mb=");

    (void)argc;
    if (number("lock=") && take_lock(argv[0]) != 0) {
        return 1;
    }
    if (mb > 0 && fill((size_t)mb << 20) != 0) {
        return 1;
    }
    if (number("cpu=")) {
        keep_busy(number("cpu="));
    }
    if (number("nap=")) {
        sleep_ms(random_ms(number("nap=")));
    }
    snprintf(backend, sizeof(backend), "%s/backend", folder ? folder : "/tmp");
    if (number("wait=")
        && ask_backend(backend, number("wait="), number("slots=")) != 0) {
        return 1;
    }
    fputs("Content-Type: text/plain\nContent-Length: 3\n\nOK\n", stdout);
    return 0;
}
