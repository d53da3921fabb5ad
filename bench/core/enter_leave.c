/* enter_leave.c - what a permit costs.
 *
 *   enter_leave [rounds]
 *
 * Prints nanoseconds for an uncontended enter and leave: in a segment with one
 * zone, beside 10,000 requests in line in another zone and in the same one, and
 * with 1,000 zones. Each round measures all of them in turn, so that what the
 * machine does besides hits all alike; the figures are median, least and most
 * over the rounds, and the ratio that of the medians.
 *
 * Then how long it takes from leaving to the start of the next in line, in
 * another process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <apr_general.h>

#include "adm.h"

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
    const adm_sizes_t sizes = { 1024, 16, 2 * WAITING };
    adm_segment_t *segment;

    need(adm_segment_create(&segment, &sizes, pool) == APR_SUCCESS,
         "no segment");
    return segment;
}

static adm_zone_t add_zone(adm_segment_t *segment, const char *name,
                           uint32_t limit)
{
    adm_zone_t zone;

    adm_segment_begin_load(segment);
    need(adm_zone_configure(segment, name, limit, 2 * WAITING, &zone)
             == APR_SUCCESS,
         "no zone");
    adm_segment_end_load(segment, 1000000, ADM_USEC_PER_SEC);
    return zone;
}

static adm_child_t *join(adm_segment_t *segment)
{
    adm_child_t *child;

    need(adm_child_register(&child, segment, 1, pool) == APR_SUCCESS,
         "not registered");
    return child;
}

static apr_status_t enter(adm_child_t *child, adm_zone_t zone, unsigned flags,
                          adm_ticket_t *ticket)
{
    *ticket = (adm_ticket_t){ 0 };
    return adm_zone_enter(child, zone, flags, 2 * WAITING, adm_now(), ticket);
}

static void fill_line(adm_child_t *child, adm_zone_t zone)
{
    adm_ticket_t *tickets = calloc(WAITING, sizeof(*tickets));
    unsigned n;

    for (n = 0; n < WAITING; n++) {
        need(enter(child, zone, ADM_MAY_WAIT, &tickets[n]) == ADM_QUEUED,
             "not in line");
    }
}

/* ---- enter and leave ----------------------------------------------------- */

typedef struct setting_t {
    const char *name;
    adm_child_t *child;
    adm_zone_t zone;
    unsigned flags;
    double nsec[ROUNDS];
} setting_t;

enum { ONE_ZONE, WORKERS, LINE_ELSEWHERE, LINE_HERE, MANY_ZONES, SETTINGS };
static setting_t settings[SETTINGS];

static void set(int which, const char *name, adm_child_t *child,
                adm_zone_t zone, unsigned flags)
{
    settings[which] = (setting_t){ name, child, zone, flags, { 0 } };
}

static void prepare(void)
{
    adm_segment_t *segment = make_segment();
    adm_child_t *child = join(segment);
    adm_zone_t zone = add_zone(segment, "only", 10);
    unsigned n;

    set(ONE_ZONE, "one zone", child, zone, 0);
    set(WORKERS, "and a worker taken", child, zone, ADM_USES_WORKER);

    segment = make_segment();
    child = join(segment);
    zone = add_zone(segment, "free", 10);
    fill_line(child, add_zone(segment, "full", 0));
    set(LINE_ELSEWHERE, "10,000 wait in another zone", child, zone, 0);

    /* A dry run is the request that gets in beside a line. */
    segment = make_segment();
    child = join(segment);
    zone = add_zone(segment, "full", 0);
    fill_line(child, zone);
    set(LINE_HERE, "10,000 wait in this zone", child, zone, ADM_DRY_RUN);

    segment = make_segment();
    child = join(segment);
    for (n = 0; n < 1000; n++) {
        char name[16];

        snprintf(name, sizeof(name), "zone %u", n);
        zone = add_zone(segment, name, 10);
    }
    set(MANY_ZONES, "1,000 zones", child, zone, 0);
}

static double measure(const setting_t *setting)
{
    adm_ticket_t ticket;
    double begin = now_nsec();
    unsigned n;

    for (n = 0; n < PAIRS; n++) {
        enter(setting->child, setting->zone, setting->flags, &ticket);
        adm_ticket_release(&ticket, adm_now());
    }
    return (now_nsec() - begin) / PAIRS;
}

static void print_settings(unsigned rounds)
{
    unsigned n;

    printf("%-30s %8s %8s %8s %7s\n", "enter and leave, nsec", "median", "min",
           "max", "ratio");
    for (n = 0; n < SETTINGS; n++) {
        qsort(settings[n].nsec, rounds, sizeof(double), by_size);
    }
    for (n = 0; n < SETTINGS; n++) {
        const double *nsec = settings[n].nsec;

        printf("%-30s %8.1f %8.1f %8.1f %7.2f\n", settings[n].name,
               nsec[rounds / 2], nsec[0], nsec[rounds - 1],
               nsec[rounds / 2] / settings[ONE_ZONE].nsec[rounds / 2]);
    }
}

static void compare_settings(unsigned rounds)
{
    unsigned round, n;

    prepare();
    for (n = 0; n < SETTINGS; n++) {
        measure(&settings[n]); /* warm up */
    }
    for (round = 0; round < rounds; round++) {
        for (n = 0; n < SETTINGS; n++) {
            settings[n].nsec[round] = measure(&settings[n]);
        }
    }
    print_settings(rounds);
}

/* ---- hand-over ----------------------------------------------------------- */

typedef struct court_t {
    _Atomic double left_at; /* by the one who left last */
    double nsec[HAND_OVERS];
} court_t;

/* Two players pass one permit to and fro: each gets in line while the other one
 * has the permit. */
static void play(adm_segment_t *segment, adm_zone_t zone, court_t *court,
                 unsigned player)
{
    adm_child_t *child = join(segment);
    unsigned n;

    for (n = player; n < HAND_OVERS; n += 2) {
        adm_ticket_t ticket;
        adm_zone_stats_t stats;
        bool has_waited = enter(child, zone, ADM_MAY_WAIT, &ticket)
                          == ADM_QUEUED;

        adm_ticket_wait(&ticket, adm_now() + 10 * ADM_USEC_PER_SEC);
        court->nsec[n] = has_waited ? now_nsec() - court->left_at : 0;
        do {
            adm_zone_stats(child, zone, adm_now(), &stats);
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
        puts("nobody had to wait");
        return;
    }
    printf("%-30s %8s %8s %8s   (%u samples)\n", "leave to next start, usec",
           "p50", "p99", "max", HAND_OVERS - n);
    printf("%-30s %8.1f %8.1f %8.1f\n", "another process sleeps",
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
