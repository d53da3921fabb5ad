/* load.c - the CGI program of the experiments: it loads the machine as it is
 * told, says OK, and ends.
 *
 * Told by QUERY_STRING, for example "mb=200&lock=1":
 *   mb=N       allocate N MB and clear them
 *   cpu=N      keep the processor busy for N milliseconds of its time
 *   lock=1     first wait for a lock that all copies share
 * Without any it is a trivial program.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

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

int main(int argc, char **argv)
{
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
    fputs("Content-Type: text/plain\nContent-Length: 3\n\nOK\n", stdout);
    return 0;
}
