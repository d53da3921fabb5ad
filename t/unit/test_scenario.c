/* test_scenario.c - what an `auto` limit has to cope with. */
#include <string.h>

#include "test_scenario.h"

/* Kinds of program: processor seconds, backend seconds, MB, variation, weight. */
#define BURNER             \
    {                      \
        0.1, 0, 10, 0.3, 1 \
    }
#define HEAVY               \
    {                       \
        0.1, 0, 200, 0.3, 1 \
    }
#define ASKER                  \
    {                          \
        0.005, 0.5, 10, 0.3, 1 \
    }

#define STEADY(best)      \
    {                     \
        {                 \
            60, 220, best \
        }                 \
    }
#define CHANGING(before, after) \
    {                           \
        { 60, 120, before },    \
        {                       \
            180, 220, after     \
        }                       \
    }

const scenario_t scenarios[] = {
    { .name = "processor",
      .what = "0.1 s of processor each",
      .world = { 2, 1000, false, { { .kinds = { BURNER }, .clients = 50 } } },
      .windows = STEADY(2),
      .part = { 0.98 },
      .most = { 3 },
      .changes = 6,
      .seconds_to = 5 },
    { .name = "processor-noisy",
      .what = "0.05 s, varying by 200 %",
      .world = { 2,
                 1000,
                 false,
                 { { .kinds = { { 0.05, 0, 10, 2, 1 } }, .clients = 50 } } },
      .windows = STEADY(2),
      .part = { 0.97 },
      .most = { 3 },
      .changes = 6,
      .seconds_to = 8 },
    { .name = "processor-16",
      .what = "0.1 s each, 16 processors",
      .world = { 16,
                 16000,
                 false,
                 { { .kinds = { BURNER }, .clients = 100 } } },
      .windows = STEADY(16),
      .part = { 0.98 },
      .most = { 18 },
      .changes = 6,
      .seconds_to = 5 },
    { .name = "fast",
      .what = "2 ms each",
      .world = { 2,
                 1000,
                 false,
                 { { .kinds = { { 0.002, 0, 5, 0.3, 1 } }, .clients = 50 } } },
      .windows = STEADY(2),
      .part = { 0.98 },
      .most = { 3 },
      .changes = 6,
      .seconds_to = 5 },
    { .name = "long",
      .what = "5 s of processor and 100 MB each",
      .world = { 2,
                 1000,
                 false,
                 { { .kinds = { { 5, 0, 100, 0.5, 1 } }, .clients = 30 } } },
      .windows = STEADY(3),
      .part = { 0.95 },
      .most = { 3 },
      .changes = 6,
      .seconds_to = 30 },
    { .name = "memory",
      .what = "200 MB each in 1 GB",
      .world = { 2, 1000, false, { { .kinds = { HEAVY }, .clients = 40 } } },
      .windows = STEADY(2),
      .part = { 0.98 },
      .most = { 3 },
      .changes = 6,
      .seconds_to = 5 },
    { .name = "memory-16",
      .what = "230 MB each in 1 GB, 16 processors",
      .world = { 16,
                 1000,
                 false,
                 { { .kinds = { { 0.1, 0, 230, 0.3, 1 } }, .clients = 60 } } },
      .windows = STEADY(4),
      .part = { 0.98 },
      .most = { 4 },
      .changes = 6,
      .seconds_to = 5 },
    { .name = "memory-wait",
      .what = "150 MB each in 1 GB, mostly waiting for a backend",
      .world = { 2,
                 1000,
                 false,
                 { { .kinds = { { 0.05, 0.4, 150, 0.3, 1 } },
                     .clients = 60 } } },
      .windows = STEADY(6),
      .part = { 0.98 },
      .most = { 6.5 },
      .changes = 10,
      .seconds_to = 10 },
    { .name = "memory-mix",
      .what = "nine of 20 MB, one of 300 MB",
      .world = { 2,
                 1000,
                 false,
                 { { .kinds = { { 0.05, 0.2, 20, 0.3, 9 },
                                { 0.1, 0.4, 300, 0.3, 1 } },
                     .clients = 60 } } },
      .windows = STEADY(5),
      .part = { 0.8 },
      .thrash = 3,
      .most = { 6 },
      .changes = 400,
      .seconds_to = -1 },
    { .name = "backend",
      .what = "a backend of 40 servers of 0.5 s",
      .world = { 2,
                 1000,
                 false,
                 { { .kinds = { ASKER }, .clients = 150, .servers = 40 } } },
      .windows = STEADY(50),
      .part = { 0.95 },
      .most = { 60 },
      .changes = 60,
      .seconds_to = 12 },
    { .name = "backend-slow",
      .what = "a backend of 60 servers of 2 s",
      .world = { 2,
                 1000,
                 false,
                 { { .kinds = { { 0.01, 2, 10, 0.5, 1 } },
                     .clients = 150,
                     .servers = 60 } } },
      .windows = STEADY(64),
      .part = { 0.95 },
      .most = { 96 },
      .changes = 60,
      .seconds_to = 45 },
    { .name = "mixed",
      .what = "processor and waiting mixed",
      .world = { 2,
                 1000,
                 false,
                 { { .kinds = { { 0.03, 0.3, 20, 0.3, 3 },
                                { 0.1, 0, 40, 0.3, 1 } },
                     .clients = 80 } } },
      .windows = STEADY(20),
      .part = { 0.95 },
      .most = { 25 },
      .changes = 60,
      .seconds_to = 30 },
    { .name = "light",
      .what = "2 requests a second, nobody waits",
      .world = { 2, 1000, false, { { .kinds = { BURNER }, .rate = 2 } } },
      .windows = STEADY(1),
      .part = { 0.98 },
      .most = { 3 },
      .changes = 6,
      .seconds_to = -1 },
    { .name = "open",
      .what = "arrivals at 90 % of the processors",
      .world = { 2, 1000, false, { { .kinds = { BURNER }, .rate = 18 } } },
      .windows = STEADY(2),
      .part = { 0.98 },
      .most = { 3 },
      .changes = 20,
      .seconds_to = -1 },
    { .name = "neighbour-cpu",
      .what = "a neighbour takes one of two processors",
      .world = { 2,
                 1000,
                 false,
                 { { .kinds = { { 0.05, 0.3, 20, 0.3, 1 } }, .clients = 60 },
                   { .from = 120,
                     .kinds = { { 0.05, 0.3, 20, 0.3, 1 } },
                     .clients = 60,
                     .neighbour_cores = 1 } } },
      .windows = CHANGING(26, 20),
      .part = { 0.92, 0.95 },
      .most = { 25, 20 },
      .changes = 60,
      .seconds_to = 30 },
    { .name = "neighbour-memory",
      .what = "a neighbour takes 500 of 1000 MB",
      .world = { 2,
                 1000,
                 false,
                 { { .kinds = { { 0.05, 0.4, 100, 0.3, 1 } }, .clients = 60 },
                   { .from = 120,
                     .kinds = { { 0.05, 0.4, 100, 0.3, 1 } },
                     .clients = 60,
                     .neighbour_mb = 500 } } },
      .windows = CHANGING(10, 5),
      .part = { 0.88, 0.77 },
      .thrash = 1,
      .most = { 9.5, 4.5 },
      .changes = 30,
      .seconds_to = 30 },
    { .name = "day-night",
      .what = "a backend, then 200 MB each",
      .world = { 2,
                 1000,
                 false,
                 { { .kinds = { ASKER }, .clients = 60 },
                   { .from = 120, .kinds = { HEAVY }, .clients = 60 } } },
      .windows = CHANGING(64, 2),
      .part = { 0.97, 0.97 },
      .thrash = 1,
      .most = { 96, 4 },
      .changes = 30,
      .seconds_to = 30 },
    { .name = "night-day",
      .what = "200 MB each, then a backend",
      .world = { 2,
                 1000,
                 false,
                 { { .kinds = { HEAVY }, .clients = 80 },
                   { .from = 120, .kinds = { ASKER }, .clients = 80 } } },
      .windows = CHANGING(2, 80),
      .part = { 0.97, 0.95 },
      .most = { 3, 96 },
      .changes = 40,
      .seconds_to = 5 },
    { .name = "idle-burst",
      .what = "a backend, an idle minute, 200 MB each at once",
      .world = { 2,
                 1000,
                 false,
                 { { .kinds = { ASKER }, .clients = 80 },
                   { .from = 60, .kinds = { HEAVY }, .clients = 1 },
                   { .from = 120, .kinds = { HEAVY }, .clients = 80 } } },
      .windows = { { 20, 60, 80 }, { 180, 220, 2 } },
      .part = { 0.97, 0.97 },
      .thrash = 0.2,
      .most = { 96, 4.5 },
      .changes = 60,
      .seconds_to = 20 },
    { .name = "flood",
      .what = "a backend, nobody for a minute, 80 of 200 MB at once",
      .world = { 2,
                 1000,
                 false,
                 { { .kinds = { ASKER }, .clients = 80 },
                   { .from = 60, .kinds = { HEAVY } },
                   { .from = 120, .kinds = { HEAVY }, .clients = 80 } } },
      .windows = { { 20, 60, 80 }, { 180, 220, 2 } },
      .part = { 0.97, 0.97 },
      .thrash = 0.2,
      .most = { 96, 4.5 },
      .changes = 60,
      .seconds_to = 20 },
    { .name = "memory-many",
      .what = "10 MB each in 500 MB, waiting for others",
      .world = { 2,
                 500,
                 false,
                 { { .kinds = { { 0.005, 0.5, 10, 0.3, 1 } },
                     .clients = 100 } } },
      .windows = STEADY(50),
      .part = { 0.85 },
      .most = { 45 },
      .changes = 30,
      .seconds_to = -1 },
    { .name = "blind",
      .what = "200 MB each in 1 GB, 16 processors, sizes unknown",
      .world = { 16, 1000, true, { { .kinds = { HEAVY }, .clients = 60 } } },
      .windows = STEADY(5),
      .part = { 0.85 },
      .thrash = 8,
      .most = { 6 },
      .changes = 100,
      .seconds_to = -1 },
    { .name = "part-time",
      .what = "arrivals at 95 % of a backend of 40 servers",
      .world = { 2,
                 1000,
                 false,
                 { { .kinds = { ASKER }, .rate = 76, .servers = 40 } } },
      .windows = STEADY(40),
      .part = { 0.98 },
      .most = { 80 },
      .changes = 100,
      .seconds_to = -1 },
    { .name = "backend-half",
      .what = "a backend loses 25 of 40 servers",
      .world = { 2,
                 1000,
                 false,
                 { { .kinds = { ASKER }, .clients = 150, .servers = 40 },
                   { .from = 120,
                     .kinds = { ASKER },
                     .clients = 150,
                     .servers = 15 } } },
      .windows = CHANGING(50, 20),
      .part = { 0.95, 0.95 },
      .most = { 60, 60 },
      .changes = 60,
      .seconds_to = 12 },
    { .name = "bursts",
      .what = "90 clients that come back together every 3 s",
      .world = { 2,
                 1000,
                 false,
                 { { .kinds = { ASKER },
                     .clients = 90,
                     .burst_every = 3,
                     .servers = 40 } } },
      .windows = STEADY(40),
      .part = { 0.97 },
      .most = { 40 },
      .changes = 1000,
      .seconds_to = -1 },
    { .name = "hogs",
      .what = "two processes of others keep both processors busy",
      .world = { 2,
                 1000,
                 false,
                 { { .kinds = { ASKER },
                     .clients = 80,
                     .servers = 40,
                     .hogs = 2 } } },
      .windows = STEADY(50),
      .part = { 0.93 },
      .most = { 60 },
      .changes = 60,
      .seconds_to = 30 },
    { .name = "others-stall",
      .what = "others stall for memory that is not ours",
      .world = { 2,
                 1000,
                 false,
                 { { .kinds = { ASKER }, .clients = 80, .servers = 40 },
                   { .from = 120,
                     .kinds = { ASKER },
                     .clients = 80,
                     .servers = 40,
                     .others_stall = 0.5 } } },
      .windows = CHANGING(50, 50),
      .part = { 0.95, 0.92 },
      .most = { 80, 80 },
      .changes = 100,
      .seconds_to = 15 },
    { .name = NULL }
};

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
    return scenario->windows[1].until ? scenario->windows[1].until
                                      : scenario->windows[0].until;
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

void scenario_run(const scenario_t *scenario, uint64_t seed, uint32_t off,
                  world_result_t *result)
{
    tuner_t tuner = { .rules = { 1, 200, off } };

    world_run(&scenario->world, seed, scenario_seconds(scenario), tuned, &tuner,
              result);
}

void scenario_run_fixed(const scenario_t *scenario, uint64_t seed,
                        uint32_t limit, world_result_t *result)
{
    world_run(&scenario->world, seed, scenario_seconds(scenario), fixed, &limit,
              result);
}
