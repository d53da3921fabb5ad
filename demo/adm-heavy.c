/* adm-heavy.c - the heavy CGI program of the demonstration.
 *
 * With "mb=N" as its query it fills N MB of memory, as a program does that loads a
 * large page or picture. Without, it computes, waits for "its database" and
 * computes again, and needs hardly any memory, so that no number of copies harms
 * the machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COMPUTE_MSEC 20
#define WAIT_MSEC 20
#define MOST_MB 1024

static long cpu_msec(void)
{
    struct timespec spent;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return spent.tv_sec * 1000 + spent.tv_nsec / 1000000;
}

static void compute(void)
{
    long end = cpu_msec() + COMPUTE_MSEC;

    while (cpu_msec() < end) {
    }
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

int main(void)
{
    const struct timespec wait = { .tv_nsec = WAIT_MSEC * 1000000L };
    const char *query = getenv("QUERY_STRING");
    int mb = query && strncmp(query, "mb=", 3) == 0 ? atoi(query + 3) : 0;

    if (mb > 0 && mb <= MOST_MB) {
        if (fill((size_t)mb << 20) != 0) {
            return 1;
        }
    }
    else {
        compute();
        nanosleep(&wait, NULL);
        compute();
    }
    puts("Content-Type: text/plain\n\nThat was heavy.");
    return 0;
}
