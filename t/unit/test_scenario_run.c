/* test_scenario_run.c - runs what an `auto` limit has to cope with. */
#include <string.h>

#include "test_scenario.h"

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
