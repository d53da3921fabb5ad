/* tune.c - how close `MaxConcurrent auto` comes to the best fixed limit.
 *
 *     tune [scenario [part ...]]     a table in Markdown
 *     tune -w                        effect of each part of the algorithm
 *     tune -t scenario seed [part]   one run, second by second
 *
 * In the simulated server of t/unit/test_world.c; deterministic. A part is a
 * number of law_tune_part_t that is switched off.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gradient2.h"
#include "test_scenario.h"

enum { SEEDS = 10 };

/* Share of the time for which a limit may thrash and still count as calm. */
#define CALM 0.01

static const uint32_t grid[] = { 1,  2,  3,  4,  5,  6,  8,  10,  12, 16,
                                 20, 26, 32, 40, 50, 64, 80, 100, 150 };

/* Result of a limit in the windows of a scenario. */
typedef struct windows_t {
    double number[SCENARIO_WINDOWS];
} windows_t;

typedef struct best_t {
    windows_t limit;
    windows_t rate;
} best_t;

static windows_t rates[sizeof(grid) / sizeof(*grid)]; /* of the fixed limits */

static int windows_of(const scenario_t *scenario)
{
    return scenario->windows[1].until ? 2 : 1;
}

static windows_t look(const scenario_t *scenario, const world_result_t *result,
                      double (*at)(const world_result_t *, int, int))
{
    windows_t windows = { { 0 } };
    int w;

    for (w = 0; w < windows_of(scenario); w++) {
        windows.number[w] = at(result, scenario->windows[w].from,
                               scenario->windows[w].until);
    }
    return windows;
}

/* The smallest limit that comes within half a percent of the best rate. */
static void note_best(best_t *best, int w, uint32_t limit, double rate)
{
    if (rate > 1.005 * best->rate.number[w]) {
        best->limit.number[w] = limit;
        best->rate.number[w] = rate;
    }
}

/* @a calm: best of the limits that hardly ever thrash. */
static void find_best(const scenario_t *scenario, best_t *any, best_t *calm)
{
    static world_result_t result;
    windows_t rate, thrash;
    size_t i;
    int w;

    memset(any, 0, sizeof(*any));
    memset(calm, 0, sizeof(*calm));
    for (i = 0; i < sizeof(grid) / sizeof(*grid); i++) {
        scenario_run_fixed(scenario, 1, grid[i], &result);
        rate = rates[i] = look(scenario, &result, world_rate);
        thrash = look(scenario, &result, world_thrash);
        for (w = 0; w < windows_of(scenario); w++) {
            note_best(any, w, grid[i], rate.number[w]);
            if (thrash.number[w] <= CALM) {
                note_best(calm, w, grid[i], rate.number[w]);
            }
        }
    }
}

/* @return how many times higher @a limits are than the least fixed limit that serves
 * 0.97 of @a rate. */
static windows_t over_least(const scenario_t *scenario, const windows_t *rate,
                            const windows_t *limits)
{
    windows_t times = { { 0 } };
    size_t i;
    int w;

    for (w = 0; w < windows_of(scenario); w++) {
        for (i = 0; i + 1 < sizeof(grid) / sizeof(*grid)
                    && rates[i].number[w] < 0.97 * rate->number[w];
             i++) {
        }
        times.number[w] = limits->number[w] / grid[i];
    }
    return times;
}

/* Worst seed: its rate divided by the rate of a fixed limit with the same seed. */
static void lower(const scenario_t *scenario, uint64_t seed,
                  const windows_t *rate, const best_t *best, windows_t *least)
{
    static world_result_t fixed;
    windows_t other;
    double part;
    int w;

    for (w = 0; w < windows_of(scenario); w++) {
        scenario_run_fixed(scenario, seed, (uint32_t)best->limit.number[w],
                           &fixed);
        other = look(scenario, &fixed, world_rate);
        part = rate->number[w] / other.number[w];
        if (seed == 1 || part < least->number[w]) {
            least->number[w] = part;
        }
    }
}

static void print_windows(const scenario_t *scenario, int decimals,
                          const windows_t *windows)
{
    printf(" | ");
    printf("%.*f", decimals, windows->number[0]);
    if (windows_of(scenario) == 2) {
        printf(", ");
        printf("%.*f", decimals, windows->number[1]);
    }
}

static const char *const parts[] = {
    "memory forecast",
    "cold-start gate for a new kind of program",
    "memory back-off",
    "computed saturation point",
    "stop at busy CPUs",
    "telling own CPU time from other processes",
    "trials",
    "ramp",
    "choice of saturated ticks",
    "telling own stalls from stalls of others",
    "steps of the cap",
    "means restarted for other programs",
};

static void print_side(const scenario_t *scenario, uint32_t off)
{
    static world_result_t result;
    windows_t rate, limit;

    scenario_run(scenario, 1, off, &result);
    rate = look(scenario, &result, world_rate);
    limit = look(scenario, &result, world_limit);
    print_windows(scenario, 1, &rate);
    print_windows(scenario, 1, &limit);
    printf(" | %.1f | %d", result.thrash, result.changes);
}

/* Two rows for each part: with it and without it. */
static void print_worth(void)
{
    const scenario_t *scenario;
    size_t i;

    printf("| part | scenario | | requests/s | limit "
           "| thrash, s | changes |\n|---|---|---|---|---|---|---|\n");
    for (i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        for (scenario = scenarios; scenario->name; scenario++) {
            if (scenario->needs == 1u << i) {
                printf("| %s | %s | with", parts[i], scenario->name);
                print_side(scenario, 0);
                printf(" |\n| | | without");
                print_side(scenario, scenario->needs);
                printf(" |\n");
            }
        }
    }
}

/* Gradient2: its rate divided by the same limits' rates, and its thrash, worst seed. */
static void print_other(const scenario_t *scenario, const best_t *calm)
{
    static world_result_t result;
    windows_t rate, over;
    double thrash = 0;
    int seed;

    for (seed = 1; seed <= SEEDS; seed++) {
        gradient2_t other = { 0 };

        world_run(&scenario->world, seed, scenario_seconds(scenario), gradient2,
                  &other, &result);
        rate = look(scenario, &result, world_rate);
        lower(scenario, seed, &rate, calm, &over);
        thrash = result.thrash > thrash ? result.thrash : thrash;
    }
    print_windows(scenario, 2, &over);
    printf(" | %.0f |\n", thrash);
    fflush(stdout);
}

/* ---- rows ---------------------------------------------------------------- */

static void print_row(const scenario_t *scenario, uint32_t off)
{
    static world_result_t result;
    windows_t rate, mean = { { 0 } }, limit, limits = { { 0 } }, times;
    windows_t over_any, over_calm;
    best_t any, calm;
    double thrash = 0;
    int seed, w, slowest = 0, changes = 0, after;

    find_best(scenario, &any, &calm);
    for (seed = 1; seed <= SEEDS; seed++) {
        scenario_run(scenario, seed, off, &result);
        rate = look(scenario, &result, world_rate);
        limit = look(scenario, &result, world_limit);
        lower(scenario, seed, &rate, &any, &over_any);
        lower(scenario, seed, &rate, &calm, &over_calm);
        for (w = 0; w < windows_of(scenario); w++) {
            limits.number[w] += limit.number[w] / SEEDS;
            mean.number[w] += rate.number[w] / SEEDS;
        }
        thrash = result.thrash > thrash ? result.thrash : thrash;
        changes = result.changes > changes ? result.changes : changes;
        after = world_seconds_to(&result, calm.rate.number[0], 0,
                                 scenario->windows[0].until);
        slowest = after < 0 || slowest < 0 ? -1
                  : after > slowest        ? after
                                           : slowest;
    }
    printf("| %s | %s", scenario->name, scenario->what);
    print_windows(scenario, 0, &any.limit);
    print_windows(scenario, 0, &calm.limit);
    times = over_least(scenario, &mean, &limits);
    print_windows(scenario, 1, &limits);
    print_windows(scenario, 2, &times);
    print_windows(scenario, 2, &over_any);
    print_windows(scenario, 2, &over_calm);
    if (slowest < 0) {
        printf(" | - | %.1f | %d", thrash, changes);
    }
    else {
        printf(" | %d | %.1f | %d", slowest, thrash, changes);
    }
    print_other(scenario, &calm);
}

typedef struct story_t {
    law_tune_t tune;
    law_tune_rules_t rules;
    uint64_t shown;
    double stall;
} story_t;

static uint32_t tell(void *self, const law_tune_sample_t *sample)
{
    story_t *story = self;
    uint32_t limit = law_tune(&story->tune, &story->rules, sample);
    const law_tune_t *tune = &story->tune;

    if (sample->stall_permille > story->stall) {
        story->stall = sample->stall_permille;
    }
    if (sample->now_usec >= story->shown + 1000000) {
        story->shown = sample->now_usec;
        printf(
            "%6.1f limit %3u target %3u cap %3u %-10s mode %u rate %6.1f "
            "busy %.2f stall %.2f need %.0f/%.0f x%.2f ceil %u waited %.2f\n",
            (double)sample->now_usec / 1e6 - 1000, limit, tune->search.target,
            tune->memory_cap, law_tune_field_reason(tune->reason),
            tune->search.mode, tune->search.reference.rate, tune->busy,
            story->stall / 1000, tune->memory.mean_kb / 1024,
            tune->memory.recent_kb / 1024, tune->memory.inflation,
            tune->brake.ceiling, tune->search.waited);
        story->stall = 0;
    }
    return limit;
}

static void print_story(const scenario_t *scenario, uint64_t seed, uint32_t off)
{
    story_t story = { .rules = { 1, 200 } };
    static world_result_t result;

    law_tune_off = off;
    world_run(&scenario->world, seed, scenario_seconds(scenario), tell, &story,
              &result);
    printf("thrash %.2f s, touched at most %.2f\n", result.thrash,
           result.most_touched);
}

int main(int argc, char **argv)
{
    const scenario_t *scenario;
    uint32_t off = 0;
    int i;

    if (argc > 3 && strcmp(argv[1], "-t") == 0) {
        scenario = scenario_called(argv[2]);
        if (!scenario) {
            return 1;
        }
        print_story(scenario, strtoul(argv[3], NULL, 0),
                    argc > 4 ? strtoul(argv[4], NULL, 0) : 0);
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "-w") == 0) {
        print_worth();
        return 0;
    }
    for (i = 2; i < argc; i++) {
        off |= strtoul(argv[i], NULL, 0);
    }
    printf(
        "| scenario | load | best fixed | best without thrash | auto "
        "| over least | over best | over best without thrash | s to 95 %% | thrash, s "
        "| changes | Gradient2 over best without thrash "
        "| its thrash, s |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (scenario = scenarios; scenario->name; scenario++) {
        if (argc < 2 || strcmp(argv[1], scenario->name) == 0
            || strcmp(argv[1], "all") == 0) {
            print_row(scenario, off);
        }
    }
    return 0;
}
