/* enter_leave.c - cost of a permit.
 *
 *   enter_leave [rounds]
 *
 * Prints nanoseconds for an uncontended enter and leave: in a segment with one
 * zone, with 1 to 10,000 waiting requests in another zone and in the same one,
 * with up to 1,000 zones, and in a zone with a fair queue, while other keys hold
 * one permit each. Each round measures all settings alternately, so that other
 * activity of the machine affects all equally. The figures are median, minimum
 * and maximum over the rounds, then the same for the ratios to one zone in the
 * same round.
 *
 * The second part measures the time from leaving to the start of the next waiting
 * request, in another process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <apr_general.h>

#include "core/adm.h"

enum { ROUNDS = 101, PAIRS = 20000, WAITING = 10000, HAND_OVERS = 20000 };

static apr_pool_t *pool;

static void need(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "enter_leave: %s\n", what);
        exit(EXIT_FAILURE);
    }
}

static double now_nsec(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;

    return difference < 0 ? -1 : difference > 0;
}

/* ---- a segment ----------------------------------------------------------- */

static adm_segment_t *make_segment(void)
{
    const adm_sizes_t sizes = { 1024, 16, 2 * WAITING, 8 };
    adm_segment_t *segment;

    need(adm_segment_create(&segment, &sizes, pool) == APR_SUCCESS,
         "no segment");
    return segment;
}

static adm_zone_t add_zone_with(adm_segment_t *segment, const char *name,
                                uint32_t limit, bool uses_flows)
{
    adm_zone_t zone;

    adm_segment_begin_load(segment);
    need(adm_segment_configure(segment, name, limit, 0, 2 * WAITING, &zone)
             == APR_SUCCESS,
         "no zone");
    need(adm_segment_use_flows(segment, zone, uses_flows) == APR_SUCCESS,
         "no flows");
    adm_segment_end_load(segment, 1000000, ADM_USEC_PER_SEC);
    return zone;
}

static adm_zone_t add_zone(adm_segment_t *segment, const char *name,
                           uint32_t limit)
{
    return add_zone_with(segment, name, limit, false);
}

static adm_child_t *join(adm_segment_t *segment)
{
    adm_child_t *child;

    need(adm_child_register(&child, segment, 1, pool) == APR_SUCCESS,
         "not registered");
    return child;
}

static adm_outcome_t enter(adm_child_t *child, adm_zone_t zone,
                           adm_entry_t entry, adm_ticket_t *ticket)
{
    *ticket = (adm_ticket_t){ 0 };
    entry.queue_length = 2 * WAITING;
    return adm_ticket_enter(child, zone, &entry, adm_now(), ticket);
}

static void fill_line(adm_child_t *child, adm_zone_t zone, unsigned waiting)
{
    adm_ticket_t *tickets = calloc(waiting, sizeof(*tickets));
    unsigned n;

    for (n = 0; n < waiting; n++) {
        need(enter(child, zone, (adm_entry_t){ .wait = ADM_WAIT_PARKED },
                   &tickets[n])
                 == ADM_WAITING,
             "not in line");
    }
}

/* ---- enter and leave ----------------------------------------------------- */

typedef struct setting_t {
    char name[40];
    adm_child_t *child;
    adm_zone_t zone;
    adm_entry_t entry;
    unsigned keys; /* that take turns; 0: none */
    double nsec[ROUNDS];
} setting_t;

/* The first setting is the baseline. */
static setting_t settings[20];
static unsigned setting_count;

static void add(adm_child_t *child, adm_zone_t zone, adm_entry_t entry,
                unsigned number, const char *what)
{
    setting_t *setting = &settings[setting_count++];

    *setting = (setting_t){ .child = child, .zone = zone, .entry = entry };
    snprintf(setting->name, sizeof(setting->name), "%u %s", number, what);
}

static void add_line_elsewhere(unsigned waiting)
{
    adm_segment_t *segment = make_segment();
    adm_child_t *child = join(segment);
    adm_zone_t zone = add_zone(segment, "free", 10);

    fill_line(child, add_zone(segment, "full", 0), waiting);
    add(child, zone, (adm_entry_t){ 0 }, waiting, "wait in another zone");
}

/* A dry run admits a request although others wait. */
static void add_line_here(unsigned waiting)
{
    adm_segment_t *segment = make_segment();
    adm_child_t *child = join(segment);
    adm_zone_t zone = add_zone(segment, "full", 0);

    fill_line(child, zone, waiting);
    add(child, zone, (adm_entry_t){ .dry_run = true }, waiting,
        "wait in this zone");
}

static void add_zones(unsigned zones)
{
    adm_segment_t *segment = make_segment();
    adm_child_t *child = join(segment);
    adm_zone_t zone = { 0 };
    unsigned n;

    for (n = 0; n < zones; n++) {
        char name[16];

        snprintf(name, sizeof(name), "zone %u", n);
        zone = add_zone(segment, name, 10);
    }
    add(child, zone, (adm_entry_t){ 0 }, zones, zones == 1 ? "zone" : "zones");
    if (zones == 1) {
        add(child, zone, (adm_entry_t){ .worker = ADM_WORKER_ONE }, zones,
            "zone, with a worker reserved");
    }
}

/* Each key holds a permit, and requests another one. */
static void add_keys(unsigned keys)
{
    adm_segment_t *segment = make_segment();
    adm_child_t *child = join(segment);
    adm_zone_t zone = add_zone_with(segment, "fair", WAITING, true);
    unsigned n;

    for (n = 1; n <= keys; n++) {
        adm_ticket_t ticket;

        need(enter(child, zone, (adm_entry_t){ .key = n }, &ticket)
                 == ADM_ADMITTED,
             "a key is not in");
    }
    add(child, zone, (adm_entry_t){ .key = 1 }, keys,
        keys == 1 ? "key" : "keys");
    settings[setting_count - 1].keys = keys;
}

static void prepare(void)
{
    unsigned n;

    for (n = 1; n <= 1000; n *= 10) {
        add_zones(n);
    }
    for (n = 1; n <= WAITING; n *= 10) {
        add_line_elsewhere(n);
    }
    for (n = 1; n <= WAITING; n *= 10) {
        add_line_here(n);
    }
    add_keys(1);
    add_keys(300);
}

static double measure(const setting_t *setting)
{
    adm_entry_t entry = setting->entry;
    adm_ticket_t ticket;
    double begin = now_nsec();
    unsigned n;

    for (n = 0; n < PAIRS; n++) {
        if (setting->keys) {
            entry.key = 1 + n % setting->keys;
        }
        enter(setting->child, setting->zone, entry, &ticket);
        adm_ticket_release(&ticket, adm_now());
    }
    return (now_nsec() - begin) / PAIRS;
}

/* Median, minimum and maximum. */
static void print_of(double *numbers, unsigned count, int width, int decimals)
{
    qsort(numbers, count, sizeof(double), by_size);
    printf(" %*.*f %*.*f %*.*f", width, decimals, numbers[count / 2], width,
           decimals, numbers[0], width, decimals, numbers[count - 1]);
}

static void print_settings(unsigned rounds)
{
    double first[ROUNDS], ratios[ROUNDS];
    unsigned n, round;

    memcpy(first, settings[0].nsec, sizeof(first));
    printf("%-32s %8s %8s %8s  %6s %6s %6s\n", "enter and leave, nsec",
           "median", "min", "max", "ratio", "min", "max");
    for (n = 0; n < setting_count; n++) {
        for (round = 0; round < rounds; round++) {
            ratios[round] = settings[n].nsec[round] / first[round];
        }
        printf("%-32s", settings[n].name);
        print_of(settings[n].nsec, rounds, 8, 1);
        printf(" ");
        print_of(ratios, rounds, 6, 2);
        printf("\n");
    }
}

static void compare_settings(unsigned rounds)
{
    unsigned round, n;

    prepare();
    for (n = 0; n < setting_count; n++) {
        measure(&settings[n]); /* warm up */
    }
    for (round = 0; round < rounds; round++) {
        for (n = 0; n < setting_count; n++) {
            settings[n].nsec[round] = measure(&settings[n]);
        }
    }
    print_settings(rounds);
}

/* ---- hand-over ----------------------------------------------------------- */

typedef struct court_t {
    _Atomic double left_at; /* by the process that left last */
    double nsec[HAND_OVERS];
} court_t;

/* Two players pass one permit to and fro: each enters the queue while the other one
 * has the permit. */
static void play(adm_segment_t *segment, adm_zone_t zone, court_t *court,
                 unsigned player)
{
    adm_child_t *child = join(segment);
    unsigned n;

    for (n = player; n < HAND_OVERS; n += 2) {
        adm_ticket_t ticket;
        adm_zone_stats_t stats;
        bool has_waited = enter(child, zone,
                                (adm_entry_t){ .wait = ADM_WAIT_PARKED },
                                &ticket)
                          == ADM_WAITING;

        while (adm_ticket_outcome(&ticket, INT64_MAX, adm_now())
               == ADM_WAITING) {
            adm_ticket_sleep(&ticket, INT64_MAX);
        }
        court->nsec[n] = has_waited ? now_nsec() - court->left_at : 0;
        do {
            adm_view_zone(child, zone, adm_now(), &stats, NULL);
        } while (stats.queued == 0 && n + 1 < HAND_OVERS && n + 2 < HAND_OVERS);
        usleep(20); /* the other one is asleep by then */
        court->left_at = now_nsec();
        adm_ticket_release(&ticket, adm_now());
    }
}

static void measure_hand_over(void)
{
    court_t *court = mmap(NULL, sizeof(*court), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    adm_segment_t *segment = make_segment();
    adm_zone_t zone = add_zone(segment, "court", 1);
    pid_t pid = fork();
    unsigned n = 0;

    if (pid == 0) {
        play(segment, zone, court, 1);
        _exit(0);
    }
    play(segment, zone, court, 0);
    waitpid(pid, NULL, 0);
    qsort(court->nsec, HAND_OVERS, sizeof(double), by_size);
    while (n < HAND_OVERS && court->nsec[n] == 0) {
        n++; /* did not wait */
    }
    if (n == HAND_OVERS) {
        puts("no request had to wait");
        return;
    }
    printf("%-32s %8s %8s %8s   (%u samples)\n", "leave to next start, usec",
           "p50", "p99", "max", HAND_OVERS - n);
    printf("%-32s %8.1f %8.1f %8.1f\n", "another process sleeps",
           court->nsec[n + (HAND_OVERS - n) / 2] / 1e3,
           court->nsec[n + (HAND_OVERS - n) * 99 / 100] / 1e3,
           court->nsec[HAND_OVERS - 1] / 1e3);
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : ROUNDS;

    need(rounds >= 1 && rounds <= ROUNDS, "rounds: 1 to 101");
    apr_initialize();
    apr_pool_create(&pool, NULL);
    compare_settings(rounds);
    measure_hand_over();
    return EXIT_SUCCESS;
}
