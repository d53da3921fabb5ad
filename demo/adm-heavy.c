/* adm-heavy.c - the heavy CGI program of the demonstration: it computes for a
 * while, waits for "its database", computes again and answers. It needs hardly
 * any memory, so that no number of copies harms the machine.
 */
#include <stdio.h>
#include <time.h>

#define COMPUTE_MSEC 20
#define WAIT_MSEC 20

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

int main(void)
{
    const struct timespec wait = { .tv_nsec = WAIT_MSEC * 1000000L };

    compute();
    nanosleep(&wait, NULL);
    compute();
    puts("Content-Type: text/plain\n\nThat was heavy.");
    return 0;
}
