/* test_scenario.c - what an `auto` limit has to cope with. */
#include <string.h>

#include "test_scenario.h"

/* clang-format off */

/* Kinds of program: processor seconds, backend seconds, MB, variation, weight. */
#define BURNER { 0.1, 0, 10, 0.3, 1 }
#define HEAVY { 0.1, 0, 200, 0.3, 1 }
#define ASKER { 0.005, 0.5, 10, 0.3, 1 }

#define STEADY(best) { { 60, 220, best } }
#define CHANGING(before, after) { { 60, 120, before }, { 180, 220, after } }

const scenario_t scenarios[] = {
    { "processor", "0.1 s of CPU time each",
      { 2, 1000, false, { { .kinds = { BURNER }, .clients = 50 } } },
      .windows = STEADY(2), .part = { 0.98 }, .most = { 3 }, .changes = 6, .seconds_to = 5 },
    { "processor-noisy", "0.05 s, varying by 200 %",
      { 2, 1000, false, { { .kinds = { { 0.05, 0, 10, 2, 1 } }, .clients = 50 } } },
      .windows = STEADY(2), .part = { 0.97 }, .most = { 3 }, .changes = 6, .seconds_to = 8 },
    { "processor-16", "0.1 s each, 16 CPUs",
      { 16, 16000, false, { { .kinds = { BURNER }, .clients = 100 } } },
      .windows = STEADY(16), .part = { 0.98 }, .most = { 18 }, .changes = 6, .seconds_to = 5 },
    { "fast", "2 ms each",
      { 2, 1000, false, { { .kinds = { { 0.002, 0, 5, 0.3, 1 } }, .clients = 50 } } },
      .windows = STEADY(2), .part = { 0.98 }, .most = { 3 }, .changes = 6, .seconds_to = 5 },
    { "long", "5 s of CPU time and 100 MB each",
      { 2, 1000, false, { { .kinds = { { 5, 0, 100, 0.5, 1 } }, .clients = 30 } } },
      .windows = STEADY(3), .part = { 0.95 },
      .most = { 3 }, .changes = 6, .seconds_to = 30, .needs = LAW_TUNE_NO_BUSY },
    { "memory", "200 MB each in 1 GB",
      { 2, 1000, false, { { .kinds = { HEAVY }, .clients = 40 } } },
      .windows = STEADY(2), .part = { 0.98 }, .most = { 3 }, .changes = 6, .seconds_to = 5 },
    { "memory-16", "230 MB each in 1 GB, 16 CPUs",
      { 16, 1000, false, { { .kinds = { { 0.1, 0, 230, 0.3, 1 } }, .clients = 60 } } },
      .windows = STEADY(4), .part = { 0.98 },
      .most = { 4 }, .changes = 6, .seconds_to = 5, .needs = LAW_TUNE_NO_FORECAST },
    { "memory-edge", "200 MB each in 1 GB, 16 CPUs: five fill the memory",
      { 16, 1000, false, { { .kinds = { HEAVY }, .clients = 60 } } },
      .windows = STEADY(5), .part = { 0.78 }, .most = { 4 }, .changes = 6, .seconds_to = -1 },
    { "memory-wait", "150 MB each in 1 GB, mostly waiting for a backend",
      { 2, 1000, false, { { .kinds = { { 0.05, 0.4, 150, 0.3, 1 } }, .clients = 60 } } },
      .windows = STEADY(6), .part = { 0.98 }, .most = { 6.5 }, .changes = 10, .seconds_to = 10 },
    { "memory-mix", "nine of 20 MB, one of 300 MB",
      { 2, 1000, false, { { .kinds = { { 0.05, 0.2, 20, 0.3, 9 }, { 0.1, 0.4, 300, 0.3, 1 } }, .clients = 60 } } },
      .windows = STEADY(5), .part = { 0.8 }, .thrash = 3,
      .most = { 6 }, .changes = 400, .seconds_to = -1 },
    { "backend", "a backend of 40 servers of 0.5 s",
      { 2, 1000, false, { { .kinds = { ASKER }, .clients = 150, .servers = 40 } } },
      .windows = STEADY(50), .part = { 0.95 },
      .most = { 60 }, .changes = 60, .seconds_to = 12, .needs = LAW_TUNE_NO_PLATEAU },
    { "backend-slow", "a backend of 60 servers of 2 s",
      { 2, 1000, false, { { .kinds = { { 0.01, 2, 10, 0.5, 1 } }, .clients = 150, .servers = 60 } } },
      .windows = STEADY(64), .part = { 0.95 }, .most = { 96 }, .changes = 60, .seconds_to = 45 },
    { "mixed", "computing and waiting mixed",
      { 2, 1000, false, { { .kinds = { { 0.03, 0.3, 20, 0.3, 3 }, { 0.1, 0, 40, 0.3, 1 } }, .clients = 80 } } },
      .windows = STEADY(20), .part = { 0.95 },
      .most = { 25 }, .changes = 60, .seconds_to = 30, .needs = LAW_TUNE_NO_TRIALS },
    { "light", "2 requests per second, no queue",
      { 2, 1000, false, { { .kinds = { BURNER }, .rate = 2 } } },
      .windows = STEADY(1), .part = { 0.98 }, .most = { 3 }, .changes = 6, .seconds_to = -1 },
    { "open", "arrivals at 90 % of the CPUs",
      { 2, 1000, false, { { .kinds = { BURNER }, .rate = 18 } } },
      .windows = STEADY(2), .part = { 0.98 },
      .most = { 3 }, .changes = 20, .seconds_to = -1, .needs = LAW_TUNE_NO_CHOICE },
    { "neighbour-cpu", "a neighbor takes one of two CPUs",
      { 2, 1000, false, { { .kinds = { { 0.05, 0.3, 20, 0.3, 1 } }, .clients = 60 },
        { .from = 120, .kinds = { { 0.05, 0.3, 20, 0.3, 1 } }, .clients = 60, .neighbour_cores = 1 } } },
      .windows = CHANGING(26, 20), .part = { 0.92, 0.95 },
      .most = { 25, 20 }, .changes = 60, .seconds_to = 30 },
    { "neighbour-memory", "a neighbor takes 500 of 1000 MB",
      { 2, 1000, false, { { .kinds = { { 0.05, 0.4, 100, 0.3, 1 } }, .clients = 60 },
        { .from = 120, .kinds = { { 0.05, 0.4, 100, 0.3, 1 } }, .clients = 60, .neighbour_mb = 500 } } },
      .windows = CHANGING(10, 5), .part = { 0.88, 0.77 }, .thrash = 1,
      .most = { 9.5, 4.5 }, .changes = 30, .seconds_to = 30 },
    { "day-night", "a backend, then 200 MB each",
      { 2, 1000, false, { { .kinds = { ASKER }, .clients = 60 },
        { .from = 120, .kinds = { HEAVY }, .clients = 60 } } },
      .windows = CHANGING(64, 2), .part = { 0.97, 0.97 }, .thrash = 1,
      .most = { 96, 4 }, .changes = 30, .seconds_to = 30, .needs = LAW_TUNE_NO_GATE },
    { "night-day", "200 MB each, then a backend",
      { 2, 1000, false, { { .kinds = { HEAVY }, .clients = 80 },
        { .from = 120, .kinds = { ASKER }, .clients = 80 } } },
      .windows = CHANGING(2, 80), .part = { 0.97, 0.95 },
      .most = { 3, 96 }, .changes = 40, .seconds_to = 5 },
    { "day-wait", "a backend, then 180 MB each, mostly waiting",
      { 2, 1000, false, { { .kinds = { ASKER }, .clients = 60 },
        { .from = 120, .kinds = { { 0.05, 0.4, 180, 0.3, 1 } }, .clients = 60 } } },
      .windows = CHANGING(64, 5), .part = { 0.97, 0.95 }, .thrash = 1.5,
      .most = { 96, 5.5 }, .changes = 30, .seconds_to = 30 },
    { "day-slow", "20 MB each, then 180 MB each for seconds",
      { 2, 1000, false, { { .kinds = { { 0.01, 0.3, 20, 0.3, 1 } }, .clients = 40 },
        { .from = 120, .kinds = { { 0.1, 1.5, 180, 0.3, 1 } }, .clients = 40 } } },
      .windows = CHANGING(40, 5), .part = { 0.95, 0.92 }, .thrash = 2,
      .most = { 96, 5.5 }, .changes = 30, .seconds_to = 30, .needs = LAW_TUNE_NO_KINDS },
    { "night-slow", "180 MB each, then 20 MB each for seconds",
      { 2, 1000, false, { { .kinds = { { 0.05, 0.4, 180, 0.3, 1 } }, .clients = 60 },
        { .from = 120, .kinds = { { 0.02, 1.5, 20, 0.3, 1 } }, .clients = 60 } } },
      .windows = CHANGING(5, 50), .part = { 0.97, 0.92 }, .thrash = 0.2,
      .most = { 5.5, 60 }, .changes = 30, .seconds_to = 30 },
    { "day-again", "180 MB each, 20 MB each, 180 MB each again",
      { 2, 1000, false, { { .kinds = { { 0.05, 0.4, 180, 0.3, 1 } }, .clients = 60 },
        { .from = 60, .kinds = { { 0.01, 0.3, 20, 0.3, 1 } }, .clients = 60 },
        { .from = 120, .kinds = { { 0.05, 0.4, 180, 0.3, 1 } }, .clients = 60 } } },
      .windows = { { 20, 60, 5 }, { 180, 220, 5 } }, .part = { 0.95, 0.95 }, .thrash = 1.5,
      .most = { 5.5, 5.5 }, .changes = 40, .seconds_to = 30 },
    { "idle-burst", "a backend, an idle minute, then suddenly 200 MB each",
      { 2, 1000, false, { { .kinds = { ASKER }, .clients = 80 },
        { .from = 60, .kinds = { HEAVY }, .clients = 1 },
        { .from = 120, .kinds = { HEAVY }, .clients = 80 } } },
      .windows = { { 20, 60, 80 }, { 180, 220, 2 } }, .part = { 0.97, 0.97 }, .thrash = 0.2,
      .most = { 96, 4.5 }, .changes = 60, .seconds_to = 20 },
    { "flood", "a backend, a minute without clients, suddenly 80 times 200 MB",
      { 2, 1000, false, { { .kinds = { ASKER }, .clients = 80 },
        { .from = 60, .kinds = { HEAVY } },
        { .from = 120, .kinds = { HEAVY }, .clients = 80 } } },
      .windows = { { 20, 60, 80 }, { 180, 220, 2 } }, .part = { 0.97, 0.97 }, .thrash = 0.2,
      .most = { 96, 4.5 }, .changes = 60, .seconds_to = 20, .needs = LAW_TUNE_NO_RAMP },
    { "memory-many", "10 MB each in 500 MB, waiting for others",
      { 2, 500, false, { { .kinds = { { 0.005, 0.5, 10, 0.3, 1 } }, .clients = 100 } } },
      .windows = STEADY(50), .part = { 0.85 },
      .most = { 45 }, .changes = 30, .seconds_to = -1, .needs = LAW_TUNE_NO_STEPS },
    { "blind", "200 MB each in 1 GB, 16 CPUs, sizes unknown",
      { 16, 1000, true, { { .kinds = { HEAVY }, .clients = 60 } } },
      .windows = STEADY(5), .part = { 0.85 }, .thrash = 8,
      .most = { 6 }, .changes = 100, .seconds_to = -1, .needs = LAW_TUNE_NO_BRAKE },
    { "part-time", "arrivals at 95 % of a backend of 40 servers",
      { 2, 1000, false, { { .kinds = { ASKER }, .rate = 76, .servers = 40 } } },
      .windows = STEADY(40), .part = { 0.98 }, .most = { 80 }, .changes = 100, .seconds_to = -1 },
    { "backend-half", "a backend loses 25 of 40 servers",
      { 2, 1000, false, { { .kinds = { ASKER }, .clients = 150, .servers = 40 },
        { .from = 120, .kinds = { ASKER }, .clients = 150, .servers = 15 } } },
      .windows = CHANGING(50, 20), .part = { 0.95, 0.95 },
      .most = { 60, 60 }, .changes = 60, .seconds_to = 12 },
    { "backend-even", "a backend of 20 servers of exactly 0.3 s",
      { 2, 1000, false, { { .kinds = { { 0.005, 0.3, 10, 0, 1 } }, .clients = 60, .servers = 20 } } },
      .windows = STEADY(20), .part = { 0.98 },
      .most = { 30 }, .changes = 60, .seconds_to = 12 },
    { "backend-few", "a backend of 20 servers of 0.3 s, 40 clients",
      { 2, 1000, false, { { .kinds = { { 0.005, 0.3, 10, 0.1, 1 } }, .clients = 40, .servers = 20 } } },
      .windows = STEADY(20), .part = { 0.95 },
      .most = { 30 }, .changes = 60, .seconds_to = 12 },
    { "bursts", "90 clients that send requests together every 3 s",
      { 2, 1000, false, { { .kinds = { ASKER }, .clients = 90, .burst_every = 3, .servers = 40 } } },
      .windows = STEADY(40), .part = { 0.97 }, .most = { 40 }, .changes = 1000, .seconds_to = -1 },
    { "hogs", "two other processes keep both CPUs busy",
      { 2, 1000, false, { { .kinds = { ASKER }, .clients = 80, .servers = 40, .hogs = 2 } } },
      .windows = STEADY(50), .part = { 0.93 },
      .most = { 60 }, .changes = 60, .seconds_to = 30, .needs = LAW_TUNE_NO_OWN },
    { "hogs-burner", "the same, and the programs also want the CPUs",
      { 2, 1000, false, { { .kinds = { BURNER }, .clients = 50, .hogs = 2 } } },
      .windows = STEADY(2), .part = { 0.9 }, .most = { 4 }, .changes = 60, .seconds_to = 10 },
    { "backend-minutes", "a backend of 20 servers of half a minute",
      { 2, 1000, false, { { .kinds = { { 0.01, 30, 10, 0.5, 1 } }, .clients = 60, .servers = 20 } } },
      .windows = { { 300, 900, 20 } }, .part = { 0.8 },
      .most = { 80 }, .changes = 100, .seconds_to = -1 },
    { "others-stall", "other processes stall for memory outside the group",
      { 2, 1000, false, { { .kinds = { ASKER }, .clients = 80, .servers = 40 },
        { .from = 120, .kinds = { ASKER }, .clients = 80, .servers = 40, .others_stall = 0.5 } } },
      .windows = CHANGING(50, 50), .part = { 0.97, 0.97 },
      .most = { 80, 80 }, .changes = 100, .seconds_to = 15, .needs = LAW_TUNE_NO_OTHERS },
    { .name = NULL }
};

/* clang-format on */

const scenario_t *scenario_called(const char *name)
{
    const scenario_t *scenario = scenarios;

    while (scenario->name && strcmp(scenario->name, name) != 0) {
        scenario++;
    }
    return scenario->name ? scenario : NULL;
}

int scenario_seconds(const scenario_t *scenario)
{
    return scenario->windows[1].until ? scenario->windows[1].until : scenario->windows[0].until;
}

typedef struct tuner_t {
    law_tune_t tune;
    law_tune_rules_t rules;
} tuner_t;

static uint32_t tuned(void *self, const law_tune_sample_t *sample)
{
    tuner_t *tuner = self;

    return law_tune(&tuner->tune, &tuner->rules, sample);
}

static uint32_t fixed(void *self, const law_tune_sample_t *sample)
{
    (void)sample;
    return *(uint32_t *)self;
}

void scenario_run(const scenario_t *scenario, uint64_t seed, uint32_t off, world_result_t *result)
{
    tuner_t tuner = { .rules = { 1, 200 } };

    law_tune_off = off;
    world_run(&scenario->world, seed, scenario_seconds(scenario), tuned, &tuner, result);
    law_tune_off = 0;
}

void scenario_run_fixed(const scenario_t *scenario, uint64_t seed, uint32_t limit,
                        world_result_t *result)
{
    world_run(&scenario->world, seed, scenario_seconds(scenario), fixed, &limit, result);
}
