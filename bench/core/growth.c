/* growth.c - cost of one zone while several processes use it.
 *
 *   growth [milliseconds]
 *
 * For 1 to 64 processes: how often all of them together enter and leave a zone
 * whose limit they never reach; hand over the permits of a zone with limit 1;
 * and list its requests. Prints operations per second of all processes, and the
 * duration of one operation: median, 99 of 100, 999 of 1,000, maximum.
 * `taskset -c 0 growth` measures the same on one CPU.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <apr_general.h>

#include "core/adm.h"

enum { PROCESSES = 64, SAMPLES = 1 << 15, QUEUE = 1000 };

typedef struct shared_t {
    atomic_bool has_started, has_ended;
    atomic_uint joined;
    struct {
        unsigned long count;
        unsigned nsec[SAMPLES]; /* of the last operations */
    } of[PROCESSES];
} shared_t;

static apr_pool_t *pool;
static shared_t *shared;
static adm_zone_t zone;

static void need(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "growth: %s\n", what);
        _exit(EXIT_FAILURE);
    }
}

static double now_nsec(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

/* ---- operations ---------------------------------------------------------- */

static void enter_and_leave(adm_child_t *child)
{
    const adm_entry_t entry = { .wait = ADM_WAIT_BLOCKED,
                                .queue_length = QUEUE };
    adm_ticket_t ticket = { 0 };

    if (adm_ticket_enter(child, zone, &entry, adm_now(), &ticket)
        == ADM_WAITING) {
        while (adm_ticket_outcome(&ticket, INT64_MAX, adm_now())
               == ADM_WAITING) {
            adm_ticket_sleep(&ticket, INT64_MAX);
        }
    }
    adm_ticket_release(&ticket, adm_now());
}

static void list(adm_child_t *child)
{
    adm_present_t present[ADM_PRESENT_MAX];
    uint32_t cursor = 0, count;

    adm_who_list(child, zone, adm_now(), &cursor, present, &count);
}

typedef struct operation_t {
    const char *name;
    uint32_t limit;
    uint32_t present; /* requests that run all the time */
    void (*run)(adm_child_t *child);
} operation_t;

static const operation_t operations[] = {
    { "enter and leave", 10000, 0, enter_and_leave },
    { "hand over", 1, 0, enter_and_leave },
    { "list 64 of 10,000 requests", 20000, 10000, list }
};

/* ---- processes ----------------------------------------------------------- */

static adm_segment_t *make_segment(uint32_t limit)
{
    const adm_sizes_t sizes = { .zones = 16,
                                .children = 2 * PROCESSES,
                                .tickets = 32768 };
    adm_segment_t *segment;

    need(adm_segment_create(&segment, &sizes, pool) == APR_SUCCESS,
         "no segment");
    adm_segment_begin_load(segment);
    need(adm_segment_configure(segment, "zone", limit, 0, QUEUE, &zone)
             == APR_SUCCESS,
         "no zone");
    adm_segment_end_load(segment, 1000000, ADM_USEC_PER_SEC);
    return segment;
}

static adm_child_t *join(adm_segment_t *segment)
{
    adm_child_t *child;

    need(adm_child_register(&child, segment, 1, pool) == APR_SUCCESS,
         "not registered");
    return child;
}

static void work(adm_segment_t *segment, const operation_t *operation,
                 unsigned number)
{
    adm_child_t *child = join(segment);
    unsigned long n;

    atomic_fetch_add(&shared->joined, 1);
    while (!atomic_load(&shared->has_started)) {
        usleep(100);
    }
    for (n = 0; !atomic_load(&shared->has_ended); n++) {
        double begin = now_nsec();

        operation->run(child);
        shared->of[number].nsec[n % SAMPLES] = (unsigned)(now_nsec() - begin);
    }
    shared->of[number].count = n;
    _exit(EXIT_SUCCESS);
}

static int by_size(const void *a, const void *b)
{
    unsigned one = *(const unsigned *)a, other = *(const unsigned *)b;

    return one < other ? -1 : one > other;
}

static void print(const char *name, unsigned processes, double seconds)
{
    static unsigned all[PROCESSES * SAMPLES];
    unsigned long count = 0, samples = 0, n;
    unsigned number;

    for (number = 0; number < processes; number++) {
        count += shared->of[number].count;
        for (n = 0; n < shared->of[number].count && n < SAMPLES; n++) {
            all[samples++] = shared->of[number].nsec[n];
        }
    }
    need(samples > 0, "no operation");
    qsort(all, samples, sizeof(*all), by_size);
    printf("| %-26s | %9u | %10.0f | %8.2f | %8.2f | %8.2f | %9.1f |\n", name,
           processes, (double)count / seconds, all[samples / 2] / 1e3,
           all[samples * 99 / 100] / 1e3, all[samples * 999 / 1000] / 1e3,
           all[samples - 1] / 1e3);
}

static void measure(const operation_t *operation, unsigned processes,
                    unsigned msec)
{
    adm_segment_t *segment = make_segment(operation->limit);
    unsigned n;
    double begin;

    memset(shared, 0, sizeof(*shared));
    fflush(stdout);
    for (n = 0; n < processes; n++) {
        if (fork() == 0) {
            work(segment, operation, n);
        }
    }
    while (atomic_load(&shared->joined) < processes) {
        usleep(100);
    }
    if (operation->present) {
        const adm_entry_t entry = { .queue_length = QUEUE };
        adm_ticket_t *tickets = calloc(operation->present, sizeof(*tickets));
        adm_child_t *child = join(segment);

        for (n = 0; n < operation->present; n++) {
            need(adm_ticket_enter(child, zone, &entry, adm_now(), &tickets[n])
                     == ADM_ADMITTED,
                 "not in");
        }
    }
    begin = now_nsec();
    atomic_store(&shared->has_started, true);
    usleep(1000 * msec);
    atomic_store(&shared->has_ended, true);
    begin = now_nsec() - begin;
    while (wait(NULL) > 0) {
    }
    print(operation->name, processes, begin / 1e9);
}

int main(int argc, char **argv)
{
    unsigned msec = argc > 1 ? (unsigned)atoi(argv[1]) : 1000, n, processes;

    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    need(shared != MAP_FAILED, "no memory");
    apr_initialize();
    apr_pool_create(&pool, NULL);
    puts("| operation                  | processes | per second | p50, us |"
         " p99, us | p99.9, us | max, us |\n"
         "| :------------------------- | --------: | ---------: | ------: |"
         " ------: | --------: | ------: |");
    for (n = 0; n < sizeof(operations) / sizeof(*operations); n++) {
        for (processes = 1; processes <= PROCESSES; processes *= 2) {
            measure(&operations[n], processes, msec);
        }
    }
    return EXIT_SUCCESS;
}
