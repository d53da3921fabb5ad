/* test_scenario.h - what an `auto` limit has to cope with, and how well it does.
 */
#ifndef TEST_SCENARIO_H
#define TEST_SCENARIO_H

#include "test_world.h"

enum { SCENARIO_WINDOWS = 2 };

/** Seconds that are compared with the best fixed limit in them. */
typedef struct scenario_window_t {
    int from;
    int until;     /* 0 ends the list */
    uint32_t best; /* fixed limit that does not thrash; the bench finds it */
} scenario_window_t;

typedef struct scenario_t {
    const char *name;
    const char *what;
    world_config_t world;
    scenario_window_t windows[SCENARIO_WINDOWS];
    /* What the law has to reach with every seed. */
    double part[SCENARIO_WINDOWS]; /* of the best fixed limit's rate */
    double thrash;                 /* seconds, at most */
    double most[SCENARIO_WINDOWS]; /* mean limit */
    int changes;                   /* of the limit, at most */
    int seconds_to;                /* 95 % in the first window, at most; -1: no bound */
    /* Of the law's parts, the one without which a bound is broken; or 0. */
    law_tune_part_t needs;
} scenario_t;

/** All of them, up to one without a name. */
extern const scenario_t scenarios[];

const scenario_t *scenario_called(const char *name);

/** @return for how many seconds it runs. */
int scenario_seconds(const scenario_t *scenario);

/** Run it with the law, parts of it (law_tune_part_t) switched off. */
void scenario_run(const scenario_t *scenario, uint64_t seed, uint32_t off, world_result_t *result);

/** Run it with a fixed limit. */
void scenario_run_fixed(const scenario_t *scenario, uint64_t seed, uint32_t limit,
                        world_result_t *result);

#endif
