/* test_world.h - a simulated web server with a limit.
 *
 * Programs share the processors, touch memory while they run and may visit a
 * backend with a number of servers and a queue of its own. What is touched
 * beyond the memory there is slows everything down, and for a second after.
 * Clients are closed (each waits for its response) or open. Everything follows
 * from the seed.
 */
#ifndef TEST_WORLD_H
#define TEST_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "auto/law_tune.h"

enum { WORLD_PHASES = 3, WORLD_KINDS = 2, WORLD_SECONDS = 1000 };

/** One kind of program. A kind without weight ends the list. */
typedef struct world_kind_t {
    double cpu;     /* seconds of a processor */
    double backend; /* seconds of a server of the backend */
    double mb;
    double cv;     /* variation of both times */
    double weight; /* how often it is asked for */
} world_kind_t;

/** What holds from a second on. A 0 means: none. */
typedef struct world_phase_t {
    double from;
    world_kind_t kinds[WORLD_KINDS];
    int clients;        /* closed ones */
    double rate;        /* arrivals a second of open ones */
    double burst_every; /* closed clients come back together, so often */
    int servers;        /* of the backend; 0: enough */
    double neighbour_mb;
    double neighbour_cores; /* taken away */
    double hogs;            /* other processes, each of which keeps a CPU busy */
    double others_stall;    /* stalls for memory that are not ours */
} world_phase_t;

typedef struct world_config_t {
    int cores;
    double memory;                      /* MB */
    bool is_blind;                      /* sizes of programs are unknown */
    world_phase_t phases[WORLD_PHASES]; /* one that begins at 0 ends the list */
} world_config_t;

/** What decides: @return the limit after a sample. */
typedef uint32_t world_control_t(void *self, const law_tune_sample_t *sample);

typedef struct world_result_t {
    double served[WORLD_SECONDS];
    double limit[WORLD_SECONDS];     /* mean */
    int changes;                     /* of the limit, from one glance to the next */
    double thrash_in[WORLD_SECONDS]; /* seconds of each */
    double thrash;                   /* seconds in which more was touched than there is */
    double most_touched;             /* over what there is; 1 is full */
} world_result_t;

/** Run a server for so many seconds. */
void world_run(const world_config_t *config, uint64_t seed, int seconds, world_control_t *control,
               void *self, world_result_t *result);

/** @return requests served a second from one second to another. */
double world_rate(const world_result_t *result, int from, int until);

/** @return the mean limit. */
double world_limit(const world_result_t *result, int from, int until);

/** @return the part of the time in which it thrashed. */
double world_thrash(const world_result_t *result, int from, int until);

/** @return seconds from @a from until the next five give 95 % of a rate, less
 *  3 % for the noise of 5 s; -1 if they never do before @a until. */
int world_seconds_to(const world_result_t *result, double rate, int from, int until);

#endif
